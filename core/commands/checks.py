"""Checks for scripts: an exit code of its own for results that differ, and for code that is too slow."""

from __future__ import annotations

import argparse
import sys

from core.analysis import results, results_words, speed
from core.analysis.comparison import RunComparison
from core.analysis.interval import Interval
from core.base.words import number
from core.report import Report

WRONG, SLOW = 4, 5
# What a change must not add to a run.
NOT_MORE = ("graph breaks", "recompiles")


def add_check_options(command: argparse.ArgumentParser, differing: str) -> None:
    """The options of a command whose exit code is to say more than that it was done."""
    command.add_argument("--check", action="store_true", help=f"exit with {WRONG} where {differing}")
    command.add_argument(
        "--least-speedup",
        type=float,
        metavar="X",
        help=f"exit with {SLOW} where it is certainly less than X times as fast, or was not measured",
    )


def check_report(report: Report, arguments: argparse.Namespace) -> int:
    """The exit code of what was requested, 0 if all is well; the reason goes to standard error."""
    found = results(report)
    wrong, unsure = "", ""
    if found is None:
        wrong = "nothing was compared with eager"
    elif found.outcome == "differs":
        wrong = f"results differ from eager: {results_words(found)}"
    elif found.outcome != "same":
        unsure = f"results are {found.outcome}: {results_words(found)}"
    took = speed(report.timing)
    return _checked(arguments, wrong, unsure, took.interval if took else None, "eager")


def check_comparison(found: RunComparison, arguments: argparse.Namespace) -> int:
    """The same for the right run of two."""
    problems = []
    if found.failures[1] and not found.failures[0]:
        problems.append(f"on the right {found.failures[1]}")
    if found.results[1] == "differs":
        problems.append("results differ from eager on the right")
    for figure in map(found.figure, NOT_MORE):
        if (figure.right or 0) > (figure.left or 0):
            problems.append(f"{figure.name}: {figure.words(figure.left)} → {figure.words(figure.right)}")
    times = found.times
    interval = times.interval if times is not None and times.comparable else None
    return _checked(arguments, "; ".join(problems), "", interval, "the left one")


def _checked(arguments: argparse.Namespace, wrong: str, unsure: str, faster: Interval | None, than: str) -> int:
    """Results before speed, since wrong code may be as fast as it likes."""
    if arguments.check and wrong:
        return _failed(wrong, WRONG)
    if arguments.check and unsure:
        print(f"check: {unsure}", file=sys.stderr)
    least = arguments.least_speedup
    if least is None:
        return 0
    if faster is None:
        return _failed("the speed was not measured, or is not comparable", SLOW)
    if faster.high < least:
        bounds = f"{number(faster.low)} to {number(faster.high)}"
        return _failed(
            f"{number(faster.middle)} times as fast as {than} ({bounds}), at least {number(least)} asked", SLOW
        )
    return 0


def _failed(message: str, code: int) -> int:
    print(f"check failed: {message}", file=sys.stderr)
    return code
