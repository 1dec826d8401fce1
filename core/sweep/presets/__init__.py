"""Presets: questions for any model, each answered with a sentence."""

from dataclasses import replace

from core.base.words import number
from core.sweep.model import Sweep
from core.sweep.presets.changes import Goal
from core.sweep.presets.conditions import CALLS, DTYPE, NUMERICS, START, THREADS, TRAINING
from core.sweep.presets.failures import LADDER, MITIGATIONS_PRESET
from core.sweep.presets.faster import FASTER, GOALS, SEARCH_S, SMALLER, SOONER, search_plan
from core.sweep.presets.modes import BACKENDS, MODES_PRESET, STANCES_PRESET
from core.sweep.presets.preset import (
    OWN,
    Answer,
    BackendFact,
    BreakEven,
    Crossover,
    Plan,
    Preset,
    Question,
    reason,
)
from core.sweep.presets.rewrites import REWRITES
from core.sweep.presets.sizes import BATCH_SIZE, BUDGET, MEMORY, SHAPES

PRESETS = {
    preset.name: preset
    for preset in (
        *(BACKENDS, MODES_PRESET, SHAPES, BATCH_SIZE, CALLS, START, STANCES_PRESET),
        *(FASTER, SOONER, SMALLER, REWRITES, MEMORY, BUDGET, DTYPE, TRAINING, THREADS, NUMERICS),
        *(MITIGATIONS_PRESET, LADDER),
    )
}
OF_FIELD = {field: preset for preset in PRESETS.values() for field in preset.fields}


def preset_of(sweep: Sweep) -> Preset:
    """Return the named preset, otherwise the preset for the field of the only axis, otherwise `OWN`."""
    named = sweep.preset if len(sweep.axes) == 1 or sweep.preset in PRESETS else ""
    field = sweep.axes[0].field if len(sweep.axes) == 1 else ""
    return PRESETS.get(named) or OF_FIELD.get(field.partition(".")[0]) or OWN


def answer(question: Question) -> Answer:
    """Return the answer to a sweep's question; its sentence mentions measurements on a busy machine."""
    result = preset_of(question.sweep).answer(question)
    timed = [row for row in question.rows if row.eager_s is not None]
    disturbed = [row for row in timed if row.disturbed]
    if not result.sentence or not disturbed:
        return result
    busy = "all" if len(disturbed) == len(timed) else f"{number(len(disturbed))} of {number(len(timed))}"
    return replace(result, sentence=f"{result.sentence.removesuffix('.')}; {busy} measured on a busy machine.")
