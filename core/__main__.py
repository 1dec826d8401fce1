"""Command line of Compileboard, `python -m core`."""

import os
import sys

from core.commands.main import main

# What a shell says of a command that SIGPIPE ended, as it ends one that has no message for it.
CLOSED = 141


def piped() -> int:
    """Run the command, and return its exit code: 141 if the output's reader stops, as `| head` does."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes at its end, too, and would say so again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    return code


if __name__ == "__main__":
    sys.exit(piped())
