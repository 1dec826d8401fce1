"""Error that ended a run, in one line."""

from __future__ import annotations

from core.report import Report

MAX_REASON_CHARS = 200


def failed_words(report: Report) -> str:
    """Return `Failed while call 0: compiled (IndexError: list index out of range)`; empty if no error ended the run."""
    error = report.error
    if error is None:
        return ""
    first = error.message.strip().partition("\n")[0]
    reason = f"{error.type}: {first}" if first else error.type
    return f"Failed while {error.stage} ({reason[:MAX_REASON_CHARS].rstrip('.')})"


def ending_words(state: str, reason: str, report: Report | None) -> str:
    """Return `Timed out while call 0: compiled: the run took longer than 600 s`; empty for a running or finished run.

    `state` is the run's state, and `reason` why it ended in that state.
    """
    if report is not None and report.error is not None:
        return failed_words(report)
    if state in ("queued", "running", "done"):
        return ""
    last = f" while {report.steps[-1]}" if report is not None and report.steps else ""
    why = f": {reason.rstrip('.')}" if reason else ""
    return f"{state.capitalize()}{last}{why}"
