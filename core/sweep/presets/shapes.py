"""Shapes: several sizes with static, automatic and dynamic shapes, and with a marked dimension."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import agree, count, duration_s, number
from core.job import BATCH, CompileJob
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    Plan,
    Preset,
    Question,
    ShapeFact,
    calls_of,
    ended,
    label,
    listed,
    speed_words,
)
from core.sweep.store import SweepRow

SIZES = (4, 16, 7, 64)
MODE_WORDS = {
    "never": "with static shapes",
    "automatic": "with automatic ones",
    "always": "with dynamic ones",
    "mark_dynamic": "with mark_dynamic",
}
VARIANTS: dict[str, AxisValue] = {
    "never": {"dynamic": False, "marks": ()},
    "automatic": {"dynamic": None, "marks": ()},
    "always": {"dynamic": True, "marks": ()},
    "mark_dynamic": {"dynamic": None, "marks": (BATCH,)},
}


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return four cells with the same calls, whose batch sizes differ."""
    varied = replace(base, calls=calls_of(base, SIZES), sizes={}, marks=(), target="", rival=None)
    return Plan(varied, (Axis("variant", tuple(VARIANTS.values()), tuple(VARIANTS)),))


def answer(question: Question) -> Answer:
    """Return compilations, compile time and kernels of each shape mode."""
    done = ended(question.rows)
    facts = tuple(fact(row) for row in done)
    by_name = {cost.name: cost for cost in facts}
    costs = [by_name.get(label(row)) for row in question.rows]
    return Answer(
        sentence=_sentence(facts),
        notes=_notes(done),
        columns={
            "compilations by call": tuple(_by_call(row) for row in question.rows),
            "compile time": tuple("" if cost is None or cost.compile_s is None else duration_s(cost.compile_s)
                                  for cost in costs),
        },
        facts=facts,
    )  # fmt: skip


def fact(row: SweepRow) -> ShapeFact:
    """Return the cost of the sizes in a shape mode."""
    return ShapeFact(label(row), len(row.calls), row.compilations or 0, row.compile_s, row.kernels)


def _sentence(facts: tuple[ShapeFact, ...]) -> str:
    if not facts:
        return ""
    sizes = max(cost.sizes for cost in facts)
    first, *rest = (f"{number(cost.compilations)} {MODE_WORDS.get(cost.name, f'with {cost.name}')}" for cost in facts)
    compilations = agree(facts[0].compilations, "compilation", "compilations")
    modes = listed([first.replace(" ", f" {compilations} ", 1), *rest])
    return f"{count(sizes, 'size')} {agree(sizes, 'needs', 'need')} {modes}."


def _by_call(row: SweepRow) -> str:
    """Return the compilations during each call: `1 + 1 + 0 + 0`."""
    return " + ".join("?" if call.compilations is None else number(call.compilations) for call in row.calls)


def _notes(done: tuple[SweepRow, ...]) -> tuple[str, ...]:
    """Return the speed of dynamic code at the last size, if measured."""
    texts = [f"{label(row)}: {speed_words(row)}" for row in done if speed_words(row)]
    return (f"At the last size, {'; '.join(texts)}.",) if texts else ()


SHAPES = Preset(
    "shapes",
    "Shapes",
    "How often does a changing batch size recompile, with static and dynamic shapes?",
    plan,
    answer,
)
