"""Presets that look for changes that make a job faster, and prove them.

The sweep grows as a race. A change is a setting of `torch.compile`, of Dynamo or of torch. None changes results beyond
those of the default settings: a run with other results is out of the race. Lower precision is not among the changes.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.analysis.interval import Interval
from core.base.errors import JobError
from core.base.machine import Environment
from core.base.words import duration_s, number
from core.job import CompileJob
from core.job.text import compile_options_as_text
from core.sweep.model import DYNAMO, OPTIONS, RIVAL, VARIANT, Axis, AxisValue, FieldValue, Sweep, applied
from core.sweep.presets.preset import (
    WAITS,
    Answer,
    Plan,
    Preset,
    Question,
    RecipeFact,
    broken,
    interval_words,
    listed,
    reason,
)
from core.sweep.presets.race import (
    CHANGES,
    PAIRS,
    UNCHANGED,
    Finish,
    Goal,
    Heat,
    Race,
    TriedChange,
    equal_code,
    heat_of,
    unchanged,
)
from core.sweep.store import SweepRow

NAMES: Mapping[Goal, str] = {"call": "a call", "first-call": "the first call", "memory": "the peak memory"}
GAINS: Mapping[Goal, str] = {"call": "faster", "first-call": "faster", "memory": "smaller"}
LOSSES: Mapping[Goal, str] = {"call": "slower", "first-call": "slower", "memory": "larger"}
# Seconds of a search, unless the user gives other ones.
SEARCH_S = 600.0
PREFIXES = {"inductor": OPTIONS, "dynamo": DYNAMO}
# Bounds of a single value around its middle, as a factor: what a first call differs by from run to run.
SPREAD = {"first-call": 1.1, "memory": 1.0}


# Settings of a goal's runs: what each of them measures.
MEASURED: Mapping[Goal, Mapping[str, FieldValue]] = {
    "call": {"measure": True},
    "first-call": {"measure": False, "caches": "cold"},
    "memory": {"measure": False, "memory": True},
}
NOISE = "the default against itself: noise"
COMPILED: Mapping[str, FieldValue] = {"measure": False}


def changes_for(base: CompileJob, environment: Environment, goal: Goal) -> dict[str, dict[str, FieldValue]]:
    """Return the fields of each change that this torch can take, and that the job does not set."""
    applying = {name: change for name, change in CHANGES.items() if change.applies(goal, base)}
    fields = {name: _fields(change, base, environment) for name, change in applying.items()}
    return {name: values for name, values in fields.items() if values and _is_new(values, base, environment)}


def _fields(change: TriedChange, base: CompileJob, environment: Environment) -> dict[str, FieldValue]:
    """Return the fields of a change; empty if it has no effect on this machine.

    Torch takes options or a mode: an option takes the options of the job's mode with it.
    """
    fields = dict(change.fields)
    if isinstance(threads := fields.get("threads"), int):
        threads = threads or environment.cpus // 2
        is_new = threads < (base.conditions.threads or environment.cpus) and (threads > 1 or fields["threads"] == 1)
        return {"threads": threads} if is_new else {}
    if base.compile.mode and any(field.startswith(OPTIONS) for field in fields):
        of_mode = environment.modes.get(base.compile.mode, {})
        return {"mode": None, **{f"{OPTIONS}{name}": value for name, value in of_mode.items()}, **fields}
    return fields


def _is_new(fields: Mapping[str, FieldValue], base: CompileJob, environment: Environment) -> bool:
    """Return True if torch has these options, and the job another value of one of them."""
    known = {f"{PREFIXES[each.module]}{each.name}": each.value for each in environment.options}
    own: dict[str, object] = {f"{OPTIONS}{name}": value for name, value in (base.compile.options or {}).items()}
    own |= {f"{DYNAMO}{name}": value for name, value in (base.conditions.dynamo or {}).items()}
    options = [field for field in fields if field.startswith((OPTIONS, DYNAMO))]
    if known and any(field not in known for field in options):
        return False
    before = {field: repr(own[field]) if field in own else known.get(field) for field in options}
    before |= {field: repr(getattr(base.compile, field, None)) for field in fields if field not in before}
    return any(before[field] != repr(value) for field, value in fields.items())


def plan(goal: Goal, base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with the unchanged job, and a cell for each change alone."""
    if base.model.is_script:
        raise JobError("model", "the calls of a script are not timed: name its model, as FILE.py:NAME")
    plain = replace(base, target="", rival=None, profile=False, bisect=False)
    for field, value in MEASURED[goal].items():
        plain = applied(plain, field, value)
    first = unchanged(goal == "call")
    changes = changes_for(plain, environment, goal)
    fields = tuple(_fields_of(goal, plain, heat, changes) for heat in (first, *(Heat((name,)) for name in changes)))
    return Plan(plain, (Axis(VARIANT, fields, (first.label, *changes)),))


def _fields_of(
    goal: Goal, base: CompileJob, heat: Heat, changes: Mapping[str, Mapping[str, FieldValue]]
) -> dict[str, FieldValue]:
    """Return the fields of a heat's cell; a timed heat has the unchanged job beside it."""
    fields = {field: value for name in heat.changes for field, value in changes[name].items()}
    if goal != "call" or heat.stage == "pair":
        return fields
    if heat.stage == "compiled":
        return {**fields, **COMPILED}
    return fields if _is_everywhere(heat) else {**fields, RIVAL: compile_options_as_text(base.compile)}


def _is_everywhere(heat: Heat) -> bool:
    return any(CHANGES[name].everywhere for name in heat.changes if name in CHANGES)


def race_of(goal: Goal, question: Question) -> Race:
    """Return the race so far, from the rows of the sweep."""
    sweep, by_heat = question.sweep, {heat_of(row.at[0]): row for row in question.rows if row.settled}
    first = by_heat.get(unchanged(goal == "call"))
    finished = {heat: _finish(goal, heat, row, first) for heat, row in by_heat.items()}
    return Race(tuple(_changes_of(sweep)), finished, goal == "call", sweep.budget_s)


def _changes_of(sweep: Sweep) -> dict[str, dict[str, FieldValue]]:
    """Return the fields of each change, from the cells with one change."""
    axis = sweep.axes[0]
    heats = [(heat_of(label), value) for label, value in zip(axis.named(), axis.values, strict=True)]
    return {
        heat.changes[0]: {field: part for field, part in value.items() if (field, part) not in COMPILED.items()}
        for heat, value in heats
        if heat.stage == "compiled" and len(heat.changes) == 1 and isinstance(value, Mapping)
    }


def _finish(goal: Goal, heat: Heat, row: SweepRow, first: SweepRow | None) -> Finish:
    value = _value(goal, row)
    beside = goal == "call" and not _is_everywhere(heat)
    gain = row.against if beside else _gain(goal, first, row) if heat.stage != "pair" else None
    # Settings of the whole process change more than the generated code, such as guards.
    code = "" if _is_everywhere(heat) else row.code
    is_same = first is None or row.results == first.results
    return Finish(row.state == "done", code, is_same, gain, value, row.took_s or 0.0)


def _gain(goal: Goal, first: SweepRow | None, row: SweepRow) -> Interval | None:
    """Return the gain over the unchanged job of another process, with the bounds of both values."""
    both = [_bounds(goal, each) for each in (first, row) if each is not None]
    return _ratio_of(both[0], both[1]) if len(both) == 2 and all(both) else None


def _bounds(goal: Goal, row: SweepRow) -> tuple[float, ...]:
    value, (low, high) = _value(goal, row), row.compiled_quartiles_s or (0.0, 0.0)
    if value is None:
        return ()
    return (low, value, high) if goal == "call" else (value / SPREAD[goal], value, value * SPREAD[goal])


def _ratio_of(base: Sequence[float], value: Sequence[float]) -> Interval | None:
    """Return the ratio of two values, each given as low, middle and high; None for a zero."""
    if min(*base, *value) <= 0:
        return None
    return Interval(base[0] / value[2], base[1] / value[1], base[2] / value[0])


def _value(goal: Goal, row: SweepRow) -> float | None:
    return {"call": row.compiled_s, "first-call": row.first_compiled_s, "memory": row.compiled_peak_bytes}[goal]


def more(goal: Goal, question: Question) -> tuple[tuple[str, AxisValue], ...]:
    """Return the label and fields of each cell to add now; none at the end of the race."""
    heats = race_of(goal, question).next_heats()
    changes = _changes_of(question.sweep)
    return tuple((heat.label, _fields_of(goal, question.sweep.base, heat, changes)) for heat in heats)


def answer(goal: Goal, question: Question) -> Answer:
    """Return the changes that are proven, their code and their cost, and what did not help."""
    race = race_of(goal, question)
    recipe = _recipe(goal, question, race)
    return Answer(
        sentence=_sentence(goal, question, race, recipe),
        notes=_notes(goal, race, recipe),
        columns={
            "gain": tuple(_gain_words(race, row) for row in question.rows),
            "what came of it": tuple(_outcome(goal, race, row) for row in question.rows),
        },
        facts=(recipe,) if recipe else (),
        code=recipe.code if recipe else "",
    )


def _recipe(goal: Goal, question: Question, race: Race) -> RecipeFact | None:
    """Return the changes that hold in pairs of fresh processes; None if there are none so far."""
    for changes in race.candidates():
        gain = race.proof(changes)
        if gain is None:
            continue
        fields = _fields_of(goal, question.sweep.base, Heat(changes, "pair"), _changes_of(question.sweep))
        job = applied(question.sweep.base, VARIANT, fields)
        rows = {heat_of(row.at[0]): row for row in question.rows if row.state == "done"}
        before, after = ([rows[heat] for heat in race.heats_of_pairs(changes, side)] for side in ((), changes))
        return RecipeFact(changes, _code(job), gain, PAIRS, (_first_call_s(before), _first_call_s(after)))
    return None


def _first_call_s(rows: Sequence[SweepRow]) -> float | None:
    seconds = [row.first_compiled_s for row in rows if row.first_compiled_s is not None]
    return statistics.median(seconds) if seconds else None


def _code(job: CompileJob) -> str:
    """Return the code of a job's settings: the call of torch.compile, and the settings before it."""
    lines = [f"torch._dynamo.config.{name} = {value!r}" for name, value in (job.conditions.dynamo or {}).items()]
    lines += [f"torch.set_num_threads({job.conditions.threads})"] if job.conditions.threads else []
    return "\n".join([*lines, f"model = {job.compile.as_call()}"])


def _sentence(goal: Goal, question: Question, race: Race, recipe: RecipeFact | None) -> str:
    if recipe is not None:
        pairs = f"in {number(PAIRS)} pairs of fresh processes"
        return f"With {listed(recipe.changes)}, {NAMES[goal]} is {interval_words(recipe.gain)} {GAINS[goal]}, {pairs}."
    goes_on = race.next_heats() or any(row.state in WAITS for row in question.rows)
    if race.finished and not goes_on:
        timed = "Nothing that was timed" if race.untimed() else "Nothing that was tried"
        return f"{timed} makes {NAMES[goal]} clearly {GAINS[goal]}."
    best = next(iter(race.ranked()), None)
    return f"Best so far, not proven: {listed(best)}, {interval_words(race.measured()[best])}." if best else ""


def _notes(goal: Goal, race: Race, recipe: RecipeFact | None) -> tuple[str, ...]:
    """Return what the recipe costs, and the candidates that did not hold."""
    notes = []
    if recipe is not None:
        before_s, after_s = recipe.first_call_s
        if goal != "first-call" and before_s is not None and after_s is not None:
            notes.append(f"Its first call takes {duration_s(after_s)}, and {duration_s(before_s)} by default.")
    if race.untimed():
        notes.append(f"Not timed, for want of time: {listed(race.untimed())}.")
    for changes in race.candidates():
        gain = race.pairs(changes)
        if gain is not None and race.proof(changes) is None:
            notes.append(f"{listed(changes)} did not hold in pairs of fresh processes: {interval_words(gain)}.")
    return tuple(notes)


def _gain_words(race: Race, row: SweepRow) -> str:
    heat = heat_of(row.at[0])
    finish = race.finished.get(heat)
    gain = finish.gain if finish is not None and (heat.changes or heat.stage == "timed") else None
    return interval_words(gain) if gain is not None else ""


def _outcome(goal: Goal, race: Race, row: SweepRow) -> str:
    """Return what came of a heat in a few words; empty before its end."""
    heat = heat_of(row.at[0])
    finish = race.finished.get(heat)
    if finish is None:
        return ""
    if row in broken([row]):
        return reason(row) or row.state
    if not finish.same:
        return f"other results than by default: {row.results_words or row.results}"
    if not heat.changes or heat.stage == "pair":
        return NOISE if heat.stage == "timed" else ""
    twin = equal_code(race, heat.changes[0]) if heat.stage == "compiled" else ""
    if twin:
        return f"the code of {twin}" if twin != UNCHANGED else "the default's code: nothing to time"
    if finish.gain is None or (heat.stage == "compiled" and race.timed):
        return "code of its own"
    return GAINS[goal] if finish.gain.above else LOSSES[goal] if finish.gain.below else "no difference seen"


def _preset(name: str, title: str, question: str, goal: Goal) -> Preset:
    return Preset(name, title, question, partial(plan, goal), partial(answer, goal), more=partial(more, goal))


FASTER = _preset("faster", "Faster calls", "Which settings make a call faster, and does it hold?", "call")
SOONER = _preset("sooner", "Faster first call", "Which settings make the first call faster?", "first-call")
SMALLER = _preset("smaller", "Less memory", "Which settings need less memory at the peak?", "memory")
GOALS: Mapping[Goal, Preset] = {"call": FASTER, "first-call": SOONER, "memory": SMALLER}
