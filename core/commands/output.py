"""Options and exit codes that the commands share, and printed errors."""

import argparse
import math
import sys
from typing import Literal

from core.base.errors import CompileboardError
from core.base.words import limit_s

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
WRONG, SLOW, NO_NODE = 4, 5, 6
# Seconds to wait for a node; a worker that was disconnected needs up to 30 to connect again.
NODE_WAIT_S = 60.0
WRONG_RESULTS = "results differ from eager's, or nothing was compared"
JSON_HELP = "JSON on standard output, and nothing else"


def add_json_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help=JSON_HELP)


def add_engine_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--engine",
        metavar="ADDRESS",
        help="where runs are executed: sandbox, ray://HOST:PORT or workers://HOST:PORT (COMPILEBOARD_ENGINE)",
    )


def add_node_options(command: argparse.ArgumentParser) -> None:
    """Add `--engine` and `--node-wait`."""
    add_engine_options(command)
    command.add_argument(
        "--node-wait",
        type=seconds,
        default=NODE_WAIT_S,
        metavar="S",
        help=f"exit with {NO_NODE} if no node can execute a run for S seconds ({limit_s(NODE_WAIT_S)})",
    )


def seconds(text: str) -> float:
    """Return a number of seconds; raises ArgumentTypeError."""
    try:
        number_s = float(text)
    except ValueError:
        number_s = math.nan
    if not number_s >= 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds")
    return number_s


def write_file(path: str, data: bytes, mode: Literal["wb", "ab"] = "wb") -> None:
    """Write a file, or append to it with mode `ab`; raises CompileboardError."""
    try:
        with open(path, mode) as file:
            file.write(data)
    except OSError as error:
        raise CompileboardError(f"{path} cannot be written: {error.strerror}") from None


def print_markdown(line: str) -> None:
    """Print a line of Markdown as plain text."""
    print(line.replace("`", "").replace("\\", ""))


def print_start() -> None:
    """Print to standard error that torch starts, which takes seconds."""
    print("  starting torch", file=sys.stderr, flush=True)


def complain(message: str, code: int) -> int:
    """Print a message to standard error; returns the exit code."""
    print(message, file=sys.stderr)
    return code


def add_check_options(command: argparse.ArgumentParser, differing: str = WRONG_RESULTS) -> None:
    """Add the options of a command whose exit code depends on results and speed."""
    command.add_argument("--check", action="store_true", help=f"exit with {WRONG} where {differing}")
    command.add_argument(
        "--least-speedup",
        type=float,
        metavar="X",
        help=f"exit with {SLOW} where it is certainly less than X times as fast, or was not measured",
    )
