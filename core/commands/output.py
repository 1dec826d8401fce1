"""Exit codes and output that the commands share."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
# argparse does not export the type of what `add_subparsers` returns.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_json_option(command: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    command.add_argument("--json", action="store_true", help="JSON on standard output, and nothing else")


def complain(message: str, code: int) -> int:
    """Print a message to standard error; returns the exit code."""
    print(message, file=sys.stderr)
    return code
