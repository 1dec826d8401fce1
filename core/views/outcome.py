"""Outcome of a run: its first line, the error that ended it, and what was not compiled."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import Failure, failures, sentence, verdict
from core.base import words as fmt
from core.report import Compilation, Report
from core.runs.status import Status
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, plain, prose

ENDED_BY_CHOICE = ("cancelled", "interrupted")
MOST_FAILURES = 5


@dataclass(frozen=True)
class FailureView:
    """A failed compilation, or a frame that runs eagerly; `compilation` is None if the report lacks it."""

    failure: Failure
    compilation: Compilation | None

    @property
    def failed(self) -> bool:
        """True if nothing was compiled."""
        return self.failure.kind == "failed"

    @property
    def text(self) -> str:
        """The compilation, torch's reason and the consequence, as Markdown."""
        place = f" at {code(self.failure.place.short)}" if self.failure.place.file else ""
        name = f"\\[{plain(self.failure.compilation)}\\] {code(self.failure.frame)}{place}"
        return f"{name}: **{prose(self.failure.reason, LONGEST_TEXT)}**; {self.failure.consequence}."

    @property
    def traceback_title(self) -> str:
        """The title of torch's own message, as Markdown."""
        return f"torch's error for \\[{plain(self.failure.compilation)}\\], in full"

    @property
    def message(self) -> str:
        """The message without its traceback."""
        return (self.compilation.error if self.compilation is not None else "") or "It was not recorded."


@dataclass(frozen=True)
class OutcomeView:
    """The end of a run, or its verdict so far; `report` is None without a log that can be read."""

    status: Status
    report: Report | None

    @property
    def is_no_trace(self) -> bool:
        """True for an opened file without any record."""
        return self.status.kind == "log" and self.report is not None and not self.report.kinds

    @property
    def title(self) -> str:
        """The verdict in one sentence, or how the run failed, as Markdown."""
        status, error = self.status, self.report.error if self.report else None
        if status.state == "damaged":
            return "The run is damaged."
        if self.is_no_trace:
            return "This is no torch trace."
        if status.live or status.state == "done" or status.kind == "log":
            return _verdict(self.report) if self.report else "This log cannot be read."
        if error is not None:
            line = f" on line {error.frames[-1].line} of your code" if error.frames else ""
            message = prose(error.message.strip().partition("\n")[0].rstrip("."), LONGEST_LINE)
            return f"The run failed{line}: {plain(error.type, LONGEST_NAME)}{message and f': {message}'}."
        if status.state in ENDED_BY_CHOICE:
            return f"The run was {status.state}."
        return f"The run ended: {status.state}."

    @property
    def ended_by_choice(self) -> bool:
        """True if somebody ended the run."""
        return self.status.state in ENDED_BY_CHOICE

    @property
    def error(self) -> str:
        """The error that ended the run, with its place and explanation, as Markdown; empty without one.

        The first line of its message is in the title.
        """
        error = self.report.error if self.report else None
        if error is None:
            return ""
        field = f", field {code(error.field)}" if error.field else ""
        more = f": {prose(error.explanation, LONGEST_TEXT)}" if error.explanation else "."
        return f"**{plain(error.type)}** at {code(error.stage)}{field}{more}"

    @property
    def traceback(self) -> str:
        """The whole traceback of the error; empty without one."""
        return self.report.error.traceback if self.report is not None and self.report.error is not None else ""

    @property
    def reason(self) -> str:
        """The reason for the end of the run, as Markdown."""
        return plain(self.status.reason or self.status.state)

    @property
    def failures(self) -> list[FailureView]:
        """The failed compilations and the frames that run eagerly."""
        if self.report is None:
            return []
        return [FailureView(failure, self.report.compilation(failure.compilation)) for failure in failures(self.report)]

    @property
    def first_failures(self) -> list[FailureView]:
        """The failures that are shown at once."""
        return self.failures[:MOST_FAILURES]

    def has_card(self, failure: FailureView) -> bool:
        """Return True if a finding has the reason of a failure: the first one of its kind."""
        first = next(each for each in self.failures if each.failure.kind == failure.failure.kind)
        return first.failure.compilation == failure.failure.compilation

    @property
    def failures_left_out(self) -> str:
        """The number of failures that are not among the first ones; empty if all are."""
        more = len(self.failures) - MOST_FAILURES
        return f"{fmt.number(more)} more among the compilations." if more > 0 else ""


def _verdict(report: Report) -> str:
    """Return the verdict as Markdown; its failures and differences contain names from the user's code."""
    summary = verdict(report)
    differs = summary.result is not None and summary.result.outcome == "differs"
    named = summary.failures or summary.ended or differs
    return prose(sentence(summary), LONGEST_TEXT) if named else sentence(summary)


__all__ = ["OutcomeView"]
