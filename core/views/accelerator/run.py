"""The backend `accelerator` in one compilation: its title, segments, calls across the ABI, and changes.

The accelerator's options in a job, and the differences between two runs with other options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.accelerator.program import PASSES
from core.analysis import pipeline_sentence, scope_words
from core.analysis.pipeline import crossings_disturbed, fallback_lines, moved_ops, pipeline_changes
from core.base import words as fmt
from core.job import CompileJob
from core.report import Compilation, Crossing, Report
from core.views.accelerator.segment import SegmentView
from core.views.markdown import sentence, short

# Part of the message of a run that found no C++ compiler.
NO_COMPILER = "builds its runtime with a C++ compiler"
MOST_COMPILATIONS = 8
ACCELERATOR = "accelerator"
ALL, NONE = "all", "none"


@dataclass(frozen=True, slots=True)
class AcceleratorAbsence:
    """Reason why a run has no accelerator graph: torch's message `error`, or no C++ compiler."""

    title: str
    words: str
    error: str
    no_compiler: bool
    elsewhere: bool


@dataclass(frozen=True)
class AcceleratorView:
    """The graphs of one compilation that the accelerator partitioned."""

    report: Report
    compilation: Compilation

    @property
    def scope(self) -> str:
        """The compilation's id as a prefix of the title; empty if the run has only one."""
        return scope_words(self.report, self.compilation)

    @property
    def title(self) -> str:
        """Share of the ops that the accelerator runs, and the size of its programs."""
        return pipeline_sentence(self.report, self.compilation.id)

    @cached_property
    def segments(self) -> dict[str, SegmentView]:
        """Segments of all graphs by id; a graph without segments counts as one."""
        segments = (
            SegmentView(self.report, self.compilation, pipeline, segment)
            for pipeline in self.compilation.pipelines
            for segment in pipeline.segments or (None,)
        )
        return {segment.id: segment for segment in segments}

    @property
    def largest(self) -> str:
        """Id of the segment with the most ops."""
        return max(self.segments, key=lambda name: self.segments[name].ops)

    @property
    def crossings(self) -> list[Crossing]:
        """Calls of each segment across the ABI."""
        return [crossing for crossing in self.report.crossings if crossing.compilation == self.compilation.id]

    @property
    def calls(self) -> str:
        """Number and cost of the calls across the ABI."""
        measured = self.report.timing is not None
        return crossing_words(self.crossings, measured, crossings_disturbed(self.report))

    @property
    def call_rows(self) -> list[dict[str, object]]:
        """Table with a row per segment that was called."""
        return [_crossing_row(crossing) for crossing in self.crossings]

    @property
    def fallbacks(self) -> list[str]:
        """Lines of text, one per segment and reason why torch ran it instead."""
        return [
            f"{short(crossing.segment)}: {line}" for crossing in self.crossings for line in fallback_lines(crossing)
        ]

    def changes(self, before: Report) -> AcceleratorChanges:
        """Return the differences from an earlier run."""
        return AcceleratorChanges(before, self.report)

    @staticmethod
    def absence(report: Report, job: CompileJob | None) -> AcceleratorAbsence:
        """Return why the accelerator compiled no graph in this run."""
        on_accelerator = job is not None and job.compile.backend == ACCELERATOR
        error = _error(report) if on_accelerator else ""
        title = f"The accelerator {'could not be used' if error else 'received no graph'}."
        others = [compilation.id for compilation in report.compilations if compilation.pipelines]
        if others:
            names = ", ".join(f"[{name}]" for name in others[:MOST_COMPILATIONS])
            return AcceleratorAbsence(title, f"It received the graphs of {names}: choose one above.", "", False, True)
        words = ""
        if job is None:
            words = "Not recorded: torch does not log what a backend does with a graph."
        elif not error:
            words = f"This run was made with `{job.compile.backend}`."
        return AcceleratorAbsence(title, words, error, NO_COMPILER in error, False)

    @staticmethod
    def is_used(report: Report) -> bool:
        """Return True if the accelerator partitioned graphs of a run."""
        return any(compilation.pipelines for compilation in report.compilations)


def _error(report: Report) -> str:
    """Return the message of the error that ended a run; empty if there is none."""
    message = report.error.message if report.error else ""
    return message or next((compilation.error for compilation in report.compilations if compilation.error), "")


def crossing_words(crossings: list[Crossing], measured: bool, disturbed: str = "") -> str:
    """Return the number and cost of calls across the ABI; `disturbed` is why their times are unreliable."""
    calls = sum(crossing.calls for crossing in crossings)
    if not calls:
        return "No runtime call was recorded, for example because the run ended early."
    within_s = sum(crossing.runtime_s for crossing in crossings)
    whole_s = sum(crossing.call_s for crossing in crossings)
    threads = max(crossing.threads for crossing in crossings)
    copies = sum(crossing.copies for crossing in crossings)
    copied = f"{fmt.count(copies, 'input')} copied" if copies else "no tensor copied"
    beside = ", including measured ones" if measured else ""
    doubt = f" {sentence(f'{disturbed}: times are not reliable')}" if disturbed else ""
    return (
        f"{fmt.count(calls, 'call')} across the ABI{beside}: "
        f"{fmt.duration_s(within_s)} in the runtime on {fmt.count(threads, 'thread')}, "
        f"{fmt.duration_s(whole_s - within_s)} beside it, {copied}.{doubt}"
    )


def _crossing_row(crossing: Crossing) -> dict[str, object]:
    calls = crossing.calls
    return {
        "segment": f"{crossing.direction} · {crossing.segment}",
        "calls": calls,
        "in the runtime": crossing.runtime_s / calls if calls else None,
        "beside it": (crossing.call_s - crossing.runtime_s) / calls if calls else None,
        "temporaries": crossing.allocated_bytes,
        "copied": crossing.copies,
        "programs": crossing.programs,
        "torch ran": sum(crossing.fallbacks.values()),
    }


@dataclass(frozen=True)
class AcceleratorOptions:
    """Options of the accelerator: ops that torch runs, passes over the programs, frozen parameters."""

    all_passes: ClassVar[tuple[str, ...]] = tuple(PASSES)

    without: tuple[str, ...] = ()
    passes: tuple[str, ...] = tuple(PASSES)
    freeze: bool = False

    @classmethod
    def of(cls, job: CompileJob) -> AcceleratorOptions:
        """Return the options that a job sets."""
        options = job.compile.options or {}
        names = _split(options.get("passes"))
        passes = cls.all_passes if names in ([], [ALL]) else tuple(name for name in PASSES if name in names)
        return cls(tuple(_split(options.get("without"))), passes, bool(options.get("freeze")))

    def applied(self, job: CompileJob) -> CompileJob:
        """Return the job on the accelerator with these options; options with default values are omitted."""
        before = job.compile.options or {} if self.is_used(job) else {}
        options = {name: value for name, value in before.items() if name == "examples"}
        if self.without:
            options["without"] = " ".join(self.without)
        if set(self.passes) != set(PASSES):
            options["passes"] = " ".join(self.passes) or NONE
        if self.freeze:
            options["freeze"] = True
        chosen = job.with_settings(backend=ACCELERATOR, mode=None, options=options or None)
        return replace(chosen, device="cpu", target="")

    @staticmethod
    def is_used(job: CompileJob) -> bool:
        """Return True if a job compiles with the accelerator."""
        return job.compile.backend == ACCELERATOR


def _split(value: object) -> list[str]:
    """Split several names, separated as in `options`."""
    return str(value or "").replace(",", " ").replace("+", " ").split()


@dataclass(frozen=True, slots=True)
class AcceleratorChanges:
    """Two runs on the accelerator, the earlier one first."""

    before: Report
    after: Report

    @property
    def words(self) -> str:
        """Number of ops that moved between torch and the accelerator."""
        moved = moved_ops(self.before, self.after).values()
        left = sum(max(0, after - before) for before, after in moved)
        joined = sum(max(0, before - after) for before, after in moved)
        parts = [f"{fmt.count(left, 'op')} went back to torch"] if left else []
        parts += [f"{fmt.count(joined, 'op')} came to the accelerator"] if joined else []
        return f"{' and '.join(parts)}." if parts else "Each op runs where it ran before."

    @property
    def figures(self) -> list[dict[str, object]]:
        """Table with a row per number of the two runs."""
        return [
            {"": row.name, "before": row.before, "now": row.after, "difference": row.difference}
            for row in pipeline_changes(self.before, self.after)
        ]

    @property
    def moved(self) -> list[dict[str, object]]:
        """Table with a row per op that torch runs more or less often than before."""
        return [
            {"with torch": name, "before": before, "now": after}
            for name, (before, after) in moved_ops(self.before, self.after).items()
        ]
