"""Finding: a cost or an error of a run, with its evidence, reason and advice.

`known_causes` reads the book of causes, `causes.toml`: a row for each cause, with its patterns and its cure.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from core.analysis.durations import compile_seconds
from core.analysis.dynamo.failures import frame_names
from core.analysis.kernels.kernel import kernel_times, times_unreliable
from core.analysis.kernels.ledger import LedgerRow, ledger
from core.analysis.repairs.source import Proposal
from core.analysis.results import Results, results
from core.analysis.speed import Speed, paying_speed, speed
from core.analysis.work import frame_of
from core.report import Report, frame_id

Weight = Literal["wrong", "cost", "note"]
Evidence = Literal["overview", "graph_breaks", "recompiles", "guards", "fusion", "kernels", "compile_time", "speedup"]
# Findings are ranked by the cost of a first call and of this many later calls.
CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a run.

    `title` is the event with its number, `reason` the cause, `advice` the change; all are prose with code in backticks.

    `page` is the page with the evidence; `compilation` and `item` select the evidence there. `once_s` is the cost in
    the first calls, `each_s` the cost in every call. Errors come before costs, and costs before information. `proposal`
    can be started at once.
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
        """Seconds lost in a first call and a thousand later calls."""
        return self.once_s + CALLS * self.each_s


@dataclass(frozen=True)
class RunFacts:
    """A report, the run's output, the text of the model's file, and values that several rules need."""

    report: Report
    output: str = ""
    source: str = ""

    @property
    def path(self) -> str:
        """Path of the model's file; empty if the log has no files."""
        return self.report.sources[0].path if self.report.sources else ""

    @cached_property
    def job(self) -> Mapping[str, Any]:
        """The run's job; empty for an imported log."""
        return self.report.setting.job or {}

    @property
    def on_cpu(self) -> bool:
        """True for a job on a CPU; False for an imported log, whose device is unknown."""
        return bool(self.job) and str(self.job.get("device", "cpu")).partition(":")[0] == "cpu"

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Options that the job passed to torch.compile."""
        return self.job.get("compile") or {}

    @cached_property
    def broken_frames(self) -> frozenset[str]:
        """Ids of the frames with a graph break."""
        breaks = self.report.graph_breaks
        return frozenset(frame_id(compile_id) for each in breaks for compile_id in each.compilations)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Name of each compilation."""
        return frame_names(self.report)

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """Compile seconds per compilation."""
        return compile_seconds(self.report)

    @cached_property
    def steady(self) -> Speed | None:
        """Steady state; None if not measured, or if the machine was busy."""
        return _undisturbed(speed(self.report.timing))

    @cached_property
    def waited(self) -> Speed | None:
        """Steady state by the wall clock; None if not measured, or if the machine was busy."""
        return _undisturbed(paying_speed(self.report.timing))

    @cached_property
    def compared(self) -> Results | None:
        """Comparison of the results with eager; None if nothing was compared."""
        return results(self.report)

    @cached_property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Timed kernel calls of the newest compilation of each frame.

        Estimates, times that differ between equal kernels, and times from a busy machine are not reliable and left out.
        """
        if times_unreliable(self.report):
            return ()
        newest = {frame_of(compilation): compilation for compilation in self.report.compilations if compilation.kernels}
        timed = [compilation for compilation in newest.values() if kernel_times(compilation)]
        return tuple(row for compilation in timed for row in ledger(self.report, compilation) if row.measured)


Rule = Callable[[RunFacts], Iterator[Finding]]
CauseKind = Literal["error", "result", "rounding", "traced", "bypass", "hint"]


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A row of the book of causes: the patterns of a problem, the texts of its card, and its reference.

    `result` is a pattern of a differing result in words, `source` of the model's file, and `option` an option of
    Inductor that cures it. Without `backends`, it applies to all backends.
    """

    advice: str
    reference: str
    rule: str = ""
    title: str = ""
    reason: str = ""
    patterns: Sequence[str] = ()
    result: str = ""
    source: str = ""
    backends: Sequence[str] = ()
    option: str = ""

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match of the first pattern that a text has."""
        return next(filter(None, (re.search(pattern, text) for pattern in self.patterns)), None)


@lru_cache(maxsize=1)
def book() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of the book of causes by their kind; `causes.toml` explains them."""
    return tomllib.loads(Path(__file__).with_name("causes.toml").read_text(encoding="utf-8"))


def case(key: str, text: str = "advice", /, **values: str) -> str:
    """Return a text of a case of the book of causes, with values."""
    return next(str(row[text]) for row in book()["case"] if row["name"] == key).format(**values)


@lru_cache
def known_causes(of: CauseKind) -> tuple[KnownCause, ...]:
    """Return the rows of the book of causes of a kind."""
    return tuple(KnownCause(**row) for row in book()[of])


def _undisturbed(measured: Speed | None) -> Speed | None:
    return measured if measured is not None and not measured.disturbed else None


def first_sentences(message: str) -> str:
    """Return the first two lines of torch's message that are not empty, as sentences."""
    lines = [line.strip().rstrip(".") for line in message.splitlines() if line.strip()][:2]
    text = " ".join(line if line.endswith((":", ",")) else f"{line}." for line in lines)
    return f"{text[:-1]}." if text else ""
