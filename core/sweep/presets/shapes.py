"""Shapes: some sizes, one after the other, with static, automatic and dynamic shapes, and with a marked dimension."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import agree, count, duration_s, number
from core.job import BATCH, CompileJob
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.facts import ShapeFact
from core.sweep.presets.preset import Answer, Plan, Preset, Question
from core.sweep.presets.rows import ended, label, listed, speed_words
from core.sweep.presets.sizes import calls_of
from core.sweep.row import SweepRow

SIZES = (4, 16, 7, 64)
WAYS = {
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


def plan(base: CompileJob, here: Environment) -> Plan:
    """The same calls, each with another batch, in four ways."""
    varied = replace(base, calls=calls_of(base, SIZES), sizes={}, marks=(), target="", rival=None)
    return Plan(varied, (Axis("variant", tuple(VARIANTS.values()), tuple(VARIANTS)),))


def answer(asked: Question) -> Answer:
    """How often each way compiles, how long that takes, and how many kernels it makes."""
    done = ended(asked.rows)
    facts = tuple(fact(row) for row in done)
    by_name = {found.name: found for found in facts}
    told = [by_name.get(label(row)) for row in asked.rows]
    return Answer(
        sentence=_sentence(facts),
        notes=_notes(done),
        columns={
            "compilations by call": tuple(_by_call(row) for row in asked.rows),
            "compile time": tuple("" if found is None or found.compile_s is None else duration_s(found.compile_s)
                                  for found in told),
        },
        facts=facts,
    )  # fmt: skip


def fact(row: SweepRow) -> ShapeFact:
    """What the sizes cost in one way."""
    return ShapeFact(label(row), len(row.calls), row.compilations or 0, row.compile_s, row.kernels)


def _sentence(facts: tuple[ShapeFact, ...]) -> str:
    if not facts:
        return ""
    sizes = max(found.sizes for found in facts)
    first, *others = (f"{number(found.compilations)} {WAYS.get(found.name, f'with {found.name}')}" for found in facts)
    compilations = agree(facts[0].compilations, "compilation", "compilations")
    ways = listed([first.replace(" ", f" {compilations} ", 1), *others])
    return f"{count(sizes, 'size')} in turn {agree(sizes, 'needs', 'need')} {ways}."


def _by_call(row: SweepRow) -> str:
    """Compilations that each call met: `1 + 1 + 0 + 0`."""
    return " + ".join("?" if call.compilations is None else number(call.compilations) for call in row.calls)


def _notes(done: tuple[SweepRow, ...]) -> tuple[str, ...]:
    """What dynamic code costs at the last size, where that was measured."""
    told = [f"{label(row)}: {speed_words(row)}" for row in done if speed_words(row)]
    return (f"At the last size, {'; '.join(told)}.",) if told else ()


SHAPES = Preset(
    "shapes",
    "Shapes",
    "How often does a batch that changes compile the model again, with static and with dynamic shapes?",
    plan,
    answer,
)
