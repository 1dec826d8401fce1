"""Presets: questions that any model can be asked, each with a sentence as its answer."""

from __future__ import annotations

from dataclasses import replace

from core.base.words import number
from core.sweep.model import Sweep
from core.sweep.presets.backends import BACKENDS
from core.sweep.presets.batch import BATCH_SIZE
from core.sweep.presets.calls import CALLS
from core.sweep.presets.conditions import DTYPE, THREADS, TRAINING
from core.sweep.presets.facts import BackendFact, BreakEven, Crossover, Fact
from core.sweep.presets.memory import MEMORY
from core.sweep.presets.modes import MODES_PRESET
from core.sweep.presets.numerics import NUMERICS
from core.sweep.presets.own import OWN, SAME_QUESTION
from core.sweep.presets.preset import Answer, Picture, Plan, Preset, Question
from core.sweep.presets.rows import reason
from core.sweep.presets.shapes import SHAPES
from core.sweep.presets.stances import STANCES_PRESET

PRESETS = {
    found.name: found
    for found in (
        *(BACKENDS, MODES_PRESET, SHAPES, BATCH_SIZE, CALLS, STANCES_PRESET),
        *(MEMORY, DTYPE, TRAINING, THREADS, NUMERICS),
    )
}

__all__ = [
    "PRESETS",
    "Answer",
    "BackendFact",
    "BreakEven",
    "Crossover",
    "Fact",
    "Picture",
    "Plan",
    "Preset",
    "Question",
    "answer",
    "preset_of",
    "reason",
]


def preset_of(sweep: Sweep) -> Preset:
    """The question that a sweep asks: its preset's, or that of the preset whose field its only axis changes."""
    named = sweep.preset if len(sweep.axes) == 1 or sweep.preset in PRESETS else ""
    field = sweep.axes[0].field if len(sweep.axes) == 1 else ""
    return PRESETS.get(named) or PRESETS.get(SAME_QUESTION.get(field.partition(".")[0], "")) or OWN


def answer(asked: Question) -> Answer:
    """What the rows of a sweep say to its question, with the doubt that there is of what was measured."""
    found = preset_of(asked.sweep).answer(asked)
    timed = [row for row in asked.rows if row.eager_s is not None]
    disturbed = [row for row in timed if row.disturbed]
    if not found.sentence or not disturbed:
        return found
    busy = "all" if len(disturbed) == len(timed) else f"{number(len(disturbed))} of {number(len(timed))}"
    return replace(found, sentence=f"{found.sentence.removesuffix('.')}; {busy} measured on a busy machine.")
