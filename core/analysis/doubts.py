"""Reasons why measurements of a run are not reliable and worth repeating."""

from __future__ import annotations

from core.analysis.kernels.ledger import ledger
from core.analysis.kernels.times import ALONE, kernels_disturbed
from core.analysis.speed import speed
from core.base.words import agree, count, number
from core.report import Report

# Start of the worker's error if time ran out before any kernel was measured.
NO_TIME = "TimeoutError: "
NAMED = 3


def doubts(report: Report) -> tuple[str, ...]:
    """Return why the speedup and the kernels' times are unreliable; empty if they are reliable."""
    measured = speed(report.timing)
    of_speed = (measured.unknown or measured.disturbed) if measured is not None else ""
    of_kernels = kernels_disturbed(report) or (report.untimed if report.untimed.startswith(NO_TIME) else "")
    return tuple(dict.fromkeys(reason for reason in (of_speed, of_kernels) if reason))


def untimed_words(report: Report) -> str:
    """Return why no kernel was timed, or which kernels were timed only in place; empty if neither applies."""
    if report.untimed:
        return f"kernels were not timed: {report.untimed.removeprefix(NO_TIME).rstrip('.')}"
    rows = [row for compilation in report.compilations for row in ledger(report, compilation) if row.measured]
    rest = [row for row in rows if row.timed != ALONE]
    if not rest:
        return ""
    named = ", ".join(f"`{row.label}`" for row in rest[:NAMED])
    more = f" and {count(len(rest) - NAMED, 'more', 'more')}" if len(rest) > NAMED else ""
    were = agree(len(rest), "was", "were")
    return f"{number(len(rest))} of {count(len(rows), 'kernel call')} {were} only timed in place: {named}{more}"
