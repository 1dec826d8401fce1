"""What a finding is: something that costs or is wrong, with its evidence, its reason, and what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from core.analysis.dynamo.frame_names import frame_names
from core.analysis.kernels import LedgerRow, ledger, times_unreliable
from core.analysis.phases import compile_seconds
from core.analysis.results import Results, results
from core.analysis.speed import Speed, paying_speed, speed
from core.analysis.work import frame_of
from core.report import Report

Weight = Literal["wrong", "cost", "note"]
Evidence = Literal["overview", "graph_breaks", "recompiles", "guards", "fusion", "kernels", "compile_time", "speedup"]
# What is ranked is what a first call and so many later ones lose.
CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """The same job with something else asked of it: fields of `CompileJob`, those of its `CompileOptions`, and names of
    `torch._dynamo.config`, which are added to those that the job has.

    `words` say it as one would write it by hand.
    """

    words: str
    job: Mapping[str, Any] = field(default_factory=dict)
    compile: Mapping[str, Any] = field(default_factory=dict)
    dynamo: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know of a run. `title` has its number, `reason` says why, `advice` what to do; all three are prose
    with code in backticks. `page` shows the evidence, of `compilation` and `item` where it has those.

    `once_s` is what it costs the first calls, `each_s` every call. What is wrong comes before what costs, and that
    before what is only to be known. `proposal` can be tried at once.
    """

    rule: str
    title: str
    reason: str
    advice: str
    page: Evidence
    compilation: str = ""
    item: str = ""
    once_s: float = 0.0
    each_s: float = 0.0
    weight: Weight = "cost"
    proposal: Proposal | None = None

    @property
    def cost_s(self) -> float:
        """Seconds that a first call and a thousand later ones lose by it."""
        return self.once_s + CALLS * self.each_s


@dataclass(frozen=True)
class Known:
    """A report and the run's output, and what several rules ask of them, worked out once."""

    report: Report
    output: str = ""

    @cached_property
    def asked(self) -> Mapping[str, Any]:
        """The run's job; nothing for a log from elsewhere."""
        return self.report.setting.job or {}

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What the job gave to torch.compile."""
        return self.asked.get("compile") or {}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What each compilation is of."""
        return frame_names(self.report)

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """Compile time by compilation."""
        return compile_seconds(self.report.phases)

    @cached_property
    def steady(self) -> Speed | None:
        """The steady state, where the machine was quiet while it was measured."""
        return _quiet(speed(self.report.timing))

    @cached_property
    def waited(self) -> Speed | None:
        """The same in seconds that somebody waits, by the wall clock."""
        return _quiet(paying_speed(self.report.timing))

    @cached_property
    def compared(self) -> Results | None:
        """What was compared with eager."""
        return results(self.report)

    @cached_property
    def rows(self) -> tuple[LedgerRow, ...]:
        """The kernel calls of the newest compilation of each frame that were timed; an estimate is no evidence, nor are
        times that equal kernels contradict, or of a busy machine.
        """
        if times_unreliable(self.report):
            return ()
        newest = {frame_of(found): found for found in self.report.compilations if found.kernels}
        return tuple(row for found in newest.values() for row in ledger(self.report, found) if row.measured)


def _quiet(found: Speed | None) -> Speed | None:
    return found if found is not None and not found.disturbed else None
