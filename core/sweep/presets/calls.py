"""Number of calls: break-even with cold and with warm caches."""

from __future__ import annotations

from dataclasses import replace

from core.analysis import calls_to_pay
from core.base.machine import Environment
from core.base.words import duration_s, ordinal
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.preset import Answer, BreakEven, Plan, Preset, Question, ended, faster, label, seconds
from core.sweep.store import SweepRow

CACHES = ("cold", "warm")


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return two cells: a process with empty caches, and one with filled caches."""
    return Plan(replace(base, measure=True, target="", rival=None), (Axis("caches", CACHES),))


def answer(question: Question) -> Answer:
    """Return the break-even interval of calls for each state of the caches."""
    done = ended(question.rows)
    facts = {row.at: break_even(row) for row in done}
    return Answer(
        sentence=_sentence(tuple(facts.values()), done),
        notes=_notes(done),
        columns={
            "cost of the first calls": tuple(
                seconds(facts[row.at].cost_s) if row.at in facts else "" for row in question.rows
            ),
            "pays from": tuple(pays_words(facts.get(row.at)) for row in question.rows),
        },
        facts=tuple(facts.values()),
    )


def break_even(row: SweepRow) -> BreakEven:
    """Return a row's break-even: its calls' cost beyond the steady state, divided by the savings per call."""
    cost_s = cost(row)
    if cost_s is None or row.eager_s is None or row.ratio is None or not faster(row) or row.disturbed:
        return BreakEven(label(row), None, cost_s)
    return BreakEven(label(row), calls_to_pay(cost_s, row.eager_s, row.ratio), cost_s)


def cost(row: SweepRow) -> float | None:
    """Return the seconds of a row's calls beyond the compiled steady state; None if not measured."""
    if row.compiled_s is None or not row.calls:
        return None
    return sum(max(0.0, (call.compiled_s or 0.0) - row.compiled_s) for call in row.calls)


def pays_words(pays: BreakEven | None) -> str:
    """Return the bounds in words; empty if compiling does not pay off measurably."""
    if pays is None or pays.calls is None:
        return ""
    soonest, latest = map(ordinal, pays.calls)
    return f"about the {soonest} call" if soonest == latest else f"between the {soonest} and the {latest} call"


def _sentence(facts: tuple[BreakEven, ...], done: tuple[SweepRow, ...]) -> str:
    texts = [f"{pays_words(fact)} with {fact.label} caches" for fact in facts if fact.calls]
    if texts:
        return f"Break-even: {', '.join(texts)}."
    if any(faster(row) for row in done):
        return "Compiled is faster, but the number of calls after which it pays off is unknown."
    if any(fact.cost_s is not None for fact in facts):
        return "Compiled is not clearly faster, so compiling does not pay off."
    return ""


def _notes(done: tuple[SweepRow, ...]) -> tuple[str, ...]:
    texts = [f"{duration_s(row.first_compiled_s)} with {label(row)} caches" for row in done if row.first_compiled_s]
    return (f"The first compiled call took {', '.join(texts)}.",) if texts else ()


CALLS = Preset(
    "calls",
    "Number of calls",
    "After how many calls does compiling pay off, with cold and warm caches?",
    plan,
    answer,
    "cumulative",
    ("caches",),
)
