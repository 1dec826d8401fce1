"""The accelerator's options in a job, and the differences that they make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from core.accelerator.program import PASSES
from core.analysis.pipeline import moved_ops, pipeline_changes
from core.base import words as fmt
from core.job import CompileJob
from core.report import Report

ACCELERATOR = "accelerator"
ALL, NONE = "all", "none"


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
        """Return the job on the accelerator with these options; those with default values are left out."""
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
