"""Exit codes and output that the commands share.

Checks for scripts: separate exit codes for results that differ and for code that is too slow.
"""

from __future__ import annotations

import argparse
import sys
from typing import Literal, TypeAlias

from core.analysis import results, results_words, speed
from core.analysis.comparison import RunComparison
from core.analysis.interval import Interval
from core.base.errors import CompileboardError
from core.base.words import number
from core.report import Report

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
# argparse does not export the return type of `add_subparsers`.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
WRONG, SLOW = 4, 5
# Figures that a change must not raise.
NOT_MORE = ("graph breaks", "recompiles")


def add_json_option(command: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    command.add_argument("--json", action="store_true", help="JSON on standard output, and nothing else")


def add_engine_option(command: argparse.ArgumentParser) -> None:
    """Add `--engine`."""
    command.add_argument(
        "--engine",
        metavar="ADDRESS",
        help="where runs are executed: sandbox, ray://HOST:PORT or workers://HOST:PORT (COMPILEBOARD_ENGINE)",
    )


def write_file(path: str, data: bytes, mode: Literal["wb", "ab"] = "wb") -> None:
    """Write a file that was asked for, or add to it; raises CompileboardError."""
    try:
        with open(path, mode) as file:
            file.write(data)
    except OSError as error:
        raise CompileboardError(f"{path} cannot be written: {error.strerror}") from None


def print_markdown(line: str) -> None:
    """Print a line of Markdown as plain text."""
    print(line.replace("`", "").replace("\\", ""))


def complain(message: str, code: int) -> int:
    """Print a message to standard error; returns the exit code."""
    print(message, file=sys.stderr)
    return code


def add_check_options(command: argparse.ArgumentParser, differing: str) -> None:
    """Add the options of a command whose exit code depends on results and speed."""
    command.add_argument("--check", action="store_true", help=f"exit with {WRONG} where {differing}")
    command.add_argument(
        "--least-speedup",
        type=float,
        metavar="X",
        help=f"exit with {SLOW} where it is certainly less than X times as fast, or was not measured",
    )


def check_report(report: Report, arguments: argparse.Namespace) -> int:
    """Return the exit code of the requested checks, 0 if all is well; the reason goes to standard error."""
    accuracy = results(report)
    wrong, unsure = "", ""
    if accuracy is None:
        wrong = "nothing was compared with eager"
    elif accuracy.outcome == "differs":
        wrong = f"results differ from eager: {results_words(accuracy)}"
    elif accuracy.outcome != "same":
        unsure = f"results are {accuracy.outcome}: {results_words(accuracy)}"
    took = speed(report.timing)
    return _check(arguments, wrong, unsure, took.interval if took else None, "eager")


def check_comparison(comparison: RunComparison, arguments: argparse.Namespace) -> int:
    """Return the exit code of the requested checks of the right run, compared with the left run."""
    problems = []
    if comparison.failures[1] and not comparison.failures[0]:
        problems.append(f"on the right {comparison.failures[1]}")
    if comparison.results[1] == "differs":
        problems.append("results differ from eager on the right")
    for figure in map(comparison.figure, NOT_MORE):
        if (figure.right or 0) > (figure.left or 0):
            problems.append(f"{figure.name}: {figure.words(figure.left)} → {figure.words(figure.right)}")
    times = comparison.times
    interval = times.interval if times is not None and times.comparable else None
    return _check(arguments, "; ".join(problems), "", interval, "the left run")


def _check(arguments: argparse.Namespace, wrong: str, unsure: str, faster: Interval | None, than: str) -> int:
    """Return the exit code; the results are checked before the speed."""
    if arguments.check and wrong:
        return _fail(wrong, WRONG)
    if arguments.check and unsure:
        print(f"check: {unsure}", file=sys.stderr)
    least = arguments.least_speedup
    if least is None:
        return 0
    if faster is None:
        return _fail("the speed was not measured, or is not comparable", SLOW)
    if faster.high < least:
        bounds = f"{number(faster.low)}–{number(faster.high)}"
        return _fail(f"{number(faster.middle)}× as fast as {than} ({bounds}), at least {number(least)}× required", SLOW)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"check failed: {message}", file=sys.stderr)
    return code
