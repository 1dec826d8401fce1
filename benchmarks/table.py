"""Results of benchmarks, and the table that `make bench` prints."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """A result: description, figure as text, and aim.

    `passed` is True if the figure meets the aim, None without an aim.
    """

    what: str
    figure: str
    aim: str = ""
    passed: bool | None = None


def spread(values: Sequence[float], digits: int = 2, unit: str = "") -> str:
    """Return the median, the range and the number of values, as text."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f}, {len(values)} times)"


def at_most(what: str, values: Sequence[float], aim: float, digits: int = 2, unit: str = "") -> Result:
    """Return a result that meets its aim if the median is at most the aim."""
    return Result(what, spread(values, digits, unit), f"≤ {aim:g}{unit}", statistics.median(values) <= aim)


def print_table(title: str, results: Sequence[Result]) -> None:
    """Print the results below their title, aligned."""
    print(f"\n{title}")
    wide = max(len(result.what) for result in results), max(len(result.figure) for result in results)
    for result in results:
        verdict = "" if result.passed is None else "kept" if result.passed else "MISSED"
        print(f"  {result.what:<{wide[0]}}  {result.figure:<{wide[1]}}  {result.aim:<10} {verdict}".rstrip())
    sys.stdout.flush()


def tell(message: str) -> None:
    """Print progress on standard error."""
    print(f"  … {message}", file=sys.stderr, flush=True)
