"""Stances: the same calls in each stance of `torch.compiler.set_stance`, and with another backend forced."""

from __future__ import annotations

import itertools
from dataclasses import replace

from core.base.machine import Environment
from core.base.words import NOT_RECORDED, agree, count, number
from core.job import STANCES, CompileJob
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import Answer, Plan, Preset, Question, StanceFact, calls_of, ended, label, listed
from core.sweep.store import SweepRow

SIZES = (2, 3, 4)
# Stances that need compiled code to have an effect: their first call runs in the default stance.
PRIMED = ("eager_on_recompile", "fail_on_recompile")
FORCED = "force_backend=eager"
AFTER = " after the first call"
ABOUT = {
    "default": "compiles, and compiles again when a guard fails",
    "force_eager": "ignores all torch.compile",
    "eager_on_recompile": "reuses compiled code, and runs eagerly instead of recompiling",
    "fail_on_recompile": "reuses compiled code, and raises instead of recompiling",
    "eager_then_compile": "runs the first call eagerly, and compiles the second, with what it learned of the sizes",
    "aot_eager_then_compile": "compiles the first call with aot_eager, and the second with the backend",
    FORCED: "compiles with the backend eager instead of the requested one",
}


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return cells with three calls of different sizes in each stance; the last cell forces the eager backend."""
    varied = replace(base, calls=calls_of(base, SIZES), sizes={}, marks=(), measure=False, target="", rival=None)
    named = {f"{name}{AFTER if name in PRIMED else ''}": _stance(name) for name in STANCES}
    forced: AxisValue = {"stance": "default", "primed": False, "force_backend": "eager"}
    values = (*named.values(), forced)
    return Plan(varied, (Axis("variant", values, (*named, FORCED)),))


def _stance(name: str) -> AxisValue:
    return {"stance": name, "primed": name in PRIMED, "force_backend": ""}


def answer(question: Question) -> Answer:
    """Return how each call was executed in each stance, and how often each stance compiled."""
    facts = {row.at: fact(row) for row in ended(question.rows)}
    width = max((len(stance.how) for stance in facts.values()), default=0)
    return Answer(
        sentence=_sentence(tuple(facts.values())),
        notes=(_inputs_note(question.rows),) if facts else (),
        columns={
            "what it does": tuple(ABOUT.get(label(row).removesuffix(AFTER), "") for row in question.rows),
            **{
                f"call {index}": tuple(_cell(facts.get(row.at), index) for row in question.rows)
                for index in range(width)
            },
        },
        facts=tuple(facts.values()),
    )


def fact(row: SweepRow) -> StanceFact:
    """Return how each call of a row was executed, with the compilations so far."""
    counted = itertools.accumulate(call.compilations or 0 for call in row.calls)
    return StanceFact(label(row), tuple(counted), tuple(call.how for call in row.calls))


def _cell(stance: StanceFact | None, index: int) -> str:
    if stance is None or index >= len(stance.how):
        return ""
    return stance.how[index] or NOT_RECORDED


def _sentence(facts: tuple[StanceFact, ...]) -> str:
    if not facts:
        return ""
    totals: dict[int, list[str]] = {}
    for stance in facts:
        totals.setdefault(stance.compilations[-1] if stance.compilations else 0, []).append(_short(stance.name))
    parts = [f"{_times(total)} with {listed(names, 10)}" for total, names in sorted(totals.items(), reverse=True)]
    raised = [stance.name for stance in facts if "raised" in stance.how]
    calls = max(len(stance.how) for stance in facts)
    words = f"{count(calls, 'call')} of other sizes {agree(calls, 'compiles', 'compile')} {'; '.join(parts)}"
    return words + (f"; {listed([_short(name) for name in raised])} raises." if raised else ".")


def _short(name: str) -> str:
    return name.removesuffix(AFTER)


def _times(total: int) -> str:
    return {0: "nothing", 1: "once", 2: "twice"}.get(total, f"{number(total)} times")


def _inputs_note(rows: tuple[SweepRow, ...]) -> str:
    calls = next((row.calls for row in rows if row.calls), ())
    texts = "; ".join(call.inputs for call in calls)
    return f"The calls, in order: {texts}. A first call in the default stance is marked."


STANCES_PRESET = Preset(
    "stances",
    "Stances",
    "How does each stance run the same calls: compile, reuse, eager, or raise?",
    plan,
    answer,
    "calls",
)
