"""The first executions of a run's calls, one row for each compared value."""

from __future__ import annotations

from collections.abc import Sequence

from core.base import words as fmt
from core.report import Call, Difference
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line

OUTCOMES = {True: "same", False: "differs", None: "not comparable"}
# By what the report has of a compiled call.
BECAME = {
    "compiled": "compiled",
    "reused": "code reused",
    "eager": "ran eagerly",
    "mixed": "in part eagerly",
    "raised": "raised",
    "": fmt.NOT_RECORDED,
}


def call_rows(calls: Sequence[Call]) -> list[dict[str, object]]:
    """Return one row per comparison; a single row for a call without comparisons."""
    return [_beginning(call) | _compared(item) for call in calls for item in (call.differences or (_nothing(call),))]


def _beginning(call: Call) -> dict[str, object]:
    return {
        "call": call.index,
        "inputs": one_line(call.inputs, LONGEST_LINE),
        "eager": fmt.duration_s(call.eager_s),
        "compiled": fmt.duration_s(call.compiled_s),
        "became": BECAME[call.how],
    }


def _compared(item: Difference) -> dict[str, object]:
    return {
        "what": one_line(item.what, LONGEST_LINE),
        "compared": item.kind,
        "dtype": item.dtype,
        "in eager": one_line(item.expected, LONGEST_NAME),
        "in compiled": one_line(item.actual, LONGEST_LINE),
        "error": "" if item.error is None else fmt.number(item.error),
        "tolerance": fmt.number(item.tolerance) if item.dtype else "",
        "max abs": fmt.number(item.max_abs),
        "result": OUTCOMES[item.same],
        "why": one_line(item.reason, LONGEST_LINE),
    }


def _nothing(call: Call) -> Difference:
    """Return an empty comparison with the reason, for a call without comparisons."""
    return Difference("", None, kind="", reason=call.raised or call.ended)
