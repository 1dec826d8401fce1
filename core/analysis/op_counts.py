"""Outcome of compiled calls that did not run compiled code."""

from __future__ import annotations

from core.base.words import agree, number
from core.report import Call, Report

RAISED = "raised, because the stance forbids compiling for {}"
EAGER = "ran eagerly, because no compiled code fitted {}"
MIXED = "ran partly eagerly, because no compiled code fitted that part"


def op_count_words(report: Report) -> str:
    """Return the calls that raised or ran eagerly, in words without a full stop.

    Empty if all calls ran compiled code, or nothing was recorded.
    """
    parts = (_share(report, how, words) for how, words in (("raised", RAISED), ("eager", EAGER), ("mixed", MIXED)))
    return ", ".join(filter(None, parts))


def refused_calls(report: Report) -> tuple[Call, ...]:
    """Return the calls that a stance refused, each with torch's message."""
    return tuple(call for call in report.calls if call.raised)


def _share(report: Report, how: str, words: str) -> str:
    matching = sum(call.how == how for call in report.calls)
    total = len(report.calls)
    if not matching:
        return ""
    subject = f"{number(matching)} of {number(total)} calls" if total > 1 else "the only call"
    return f"{subject} {words.format(agree(matching, 'it', 'them'))}"
