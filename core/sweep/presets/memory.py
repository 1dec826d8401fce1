"""Memory: peaks of an eager and a compiled call, in inference and in training."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import bytes_, percent
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.facts import MemoryFact
from core.sweep.presets.preset import Answer, Plan, Preset, Question
from core.sweep.presets.rows import ended, label
from core.sweep.row import SweepRow


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return two cells: forward only, and with backward, which needs saved activations."""
    watched = replace(base, memory=True, measure=False, target="", rival=None)
    return Plan(watched, (Axis("training", (False, True), ("inference", "training")),))


def answer(question: Question) -> Answer:
    """Return both peaks of each cell, and their difference."""
    facts = tuple(peaks for row in ended(question.rows) if (peaks := fact(row)))
    return Answer(
        sentence=f"At its peak, {'; '.join(map(words, facts))}." if facts else "",
        facts=facts,
    )


def fact(row: SweepRow) -> MemoryFact | None:
    """Return the peaks of a row; None if not recorded."""
    if row.eager_peak_bytes is None or row.compiled_peak_bytes is None:
        return None
    return MemoryFact(label(row), row.eager_peak_bytes, row.compiled_peak_bytes)


def words(peaks: MemoryFact) -> str:
    """Return `inference needs 1.05 MB compiled and 4.19 MB eagerly, 75.0 % less`."""
    both = f"{peaks.label} needs {bytes_(peaks.compiled_bytes)} compiled and {bytes_(peaks.eager_bytes)} eagerly"
    if not peaks.eager_bytes or peaks.eager_bytes == peaks.compiled_bytes:
        return both
    change = 1 - peaks.compiled_bytes / peaks.eager_bytes
    return f"{both}, {percent(abs(change))} {'less' if change > 0 else 'more'}"


MEMORY = Preset(
    "memory",
    "Memory",
    "How much memory do an eager and a compiled call need at their peak?",
    plan,
    answer,
)
