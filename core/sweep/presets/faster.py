"""Presets that look for changes that make a job faster, and prove them.

The sweep grows as a race. A change is a setting of `torch.compile`, of Dynamo or of torch. None changes results beyond
those of the default settings: a run with other results is out of the race. Lower precision is tried only if allowed.
The pairs that prove a recipe run a copy of the model's file into which the changes are written.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from core.analysis.interval import RELEVANT, Interval
from core.base.machine import Environment
from core.base.words import agree, bytes_, duration_s, number
from core.job import CompileJob
from core.job.text import compile_options_as_text
from core.sweep.model import REPAIR, RIVAL, VARIANT, Axis, AxisValue, FieldValue, Sweep, applied
from core.sweep.presets.changes import (
    COMPILED,
    COSTS,
    Goal,
    changes_for,
    code_of,
    in_file,
    is_everywhere,
    lowers_precision,
    plain_job,
)
from core.sweep.presets.preset import (
    WAITS,
    Answer,
    Plan,
    Preset,
    Question,
    RecipeFact,
    TriedFact,
    broken,
    interval_words,
    listed,
    reason,
    slower,
)
from core.sweep.presets.race import LOOKS, UNCHANGED, Finish, Heat, Race, equal_code, heat_of, unchanged
from core.sweep.store import SweepRow

Fields = dict[str, FieldValue]
NAMES: Mapping[Goal, str] = {"call": "a call", "first-call": "the first call", "memory": "the peak memory"}
GAINS: Mapping[Goal, str] = {"call": "faster", "first-call": "faster", "memory": "smaller"}
LOSSES: Mapping[Goal, str] = {"call": "slower", "first-call": "slower", "memory": "larger"}
# Seconds of a search, unless the user gives other ones.
SEARCH_S = 600.0
# Bounds of a single value around its middle, as a factor: what a first call differs by from run to run.
SPREAD = {"first-call": 1.1, "memory": 1.0}
NO_TIME = "No change was timed: the time was up. Give the search more time."
NOISE = "the default against itself: noise"
SAME = ("same", "other strides")


def search_plan(goal: Goal, base: CompileJob, environment: Environment, allows_precision: bool = False) -> Plan:
    """Return a plan with the unchanged job, and a cell for each change alone; raises JobError."""
    plain = plain_job(goal, base)
    first = unchanged(goal == "call")
    changes = changes_for(plain, environment, goal, allows_precision)
    fields = tuple(_fields_of(goal, plain, heat, changes) for heat in (first, *(Heat((name,)) for name in changes)))
    return Plan(plain, (Axis(VARIANT, fields, (first.label, *changes)),))


def _fields_of(goal: Goal, base: CompileJob, heat: Heat, changes: Mapping[str, Fields]) -> Fields:
    """Return the fields of a heat's cell; a timed heat has the unchanged job beside it."""
    fields = {field: value for name in heat.changes for field, value in changes[name].items()}
    if heat.stage == "pair":
        return {**in_file(base, fields), **(COSTS if heat.pair % LOOKS[-1] == 1 else {})}
    if goal != "call":
        return fields
    if heat.stage == "compiled":
        return {**fields, **COMPILED}
    return fields if _is_apart(heat, changes) else {**fields, RIVAL: compile_options_as_text(base.compile)}


def _is_apart(heat: Heat, changes: Mapping[str, Fields]) -> bool:
    """Return True if the unchanged job cannot be timed beside a heat: file and settings are shared."""
    is_of_file = any(field.startswith(REPAIR) for name in heat.changes for field in changes.get(name, ()))
    return is_of_file or is_everywhere(heat.changes)


def race_of(goal: Goal, question: Question) -> Race:
    """Return the race so far, from the rows of the sweep."""
    sweep, by_heat = question.sweep, {heat_of(row.at[0]): row for row in question.rows if row.settled}
    first, changes = by_heat.get(unchanged(goal == "call")), _changes_of(sweep)
    finished = {heat: finish_of(goal, heat, row, first, changes) for heat, row in by_heat.items()}
    return Race(tuple(changes), finished, goal == "call", sweep.budget_s)


def _changes_of(sweep: Sweep) -> dict[str, Fields]:
    """Return the fields of each change, from the cells with one change."""
    axis = sweep.whole().axes[0]
    heats = [(heat_of(label), value) for label, value in zip(axis.named(), axis.values, strict=True)]
    return {
        heat.changes[0]: {field: part for field, part in value.items() if (field, part) not in COMPILED.items()}
        for heat, value in heats
        if heat.stage == "compiled" and len(heat.changes) == 1 and isinstance(value, Mapping)
    }


def finish_of(goal: Goal, heat: Heat, row: SweepRow, first: SweepRow | None, changes: Mapping[str, Fields]) -> Finish:
    value = row.compiled_quartiles_s[0] if heat.stage == "pair" and row.compiled_quartiles_s else _value(goal, row)
    beside = goal == "call" and not _is_apart(heat, changes)
    gain = row.against if beside else _gain(goal, first, row) if heat.stage != "pair" else None
    # Settings of the whole process change more than the generated code, such as guards.
    code = "" if is_everywhere(heat.changes) else row.code
    is_same = first is None or row.results == first.results or _is_as_good(heat, row, first)
    return Finish(row.state == "done", code, is_same, gain, value, row.took_s or 0.0)


def _is_as_good(heat: Heat, row: SweepRow, first: SweepRow) -> bool:
    """Return True if only strides differ, or if the user allowed the lower precision of a heat."""
    return lowers_precision(heat.changes) or {row.results, first.results} <= {*SAME}


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
        notes=_notes(goal, question, race, recipe),
        columns={
            "gain": tuple(_gain_words(race, row) for row in question.rows),
            "what came of it": tuple(_outcome(goal, race, row) for row in question.rows),
        },
        facts=(*((recipe,) if recipe else ()), *_tried(goal, question, race)),
        code=recipe.code if recipe else "",
    )


def _recipe(goal: Goal, question: Question, race: Race) -> RecipeFact | None:
    """Return the changes that hold in pairs of fresh processes; None if there are none so far."""
    for changes in race.candidates():
        gain = race.proof(changes)
        if gain is None:
            continue
        tried = _changes_of(question.sweep)
        fields = {field: value for name in changes for field, value in tried[name].items()}
        rows = {heat_of(row.at[0]): row for row in question.rows if row.state == "done"}
        before, after = ([rows[heat] for heat in race.heats_of_pairs(changes, side)] for side in ((), changes))
        return RecipeFact(
            changes,
            code_of(applied(question.sweep.base, VARIANT, fields)),
            gain,
            len(before),
            (_first_call_s(before), _first_call_s(after)),
            (before[0].compiled_peak_bytes, after[0].compiled_peak_bytes),
            after[0].numerics_words,
            after[0].results,
            after[0].run,
        )
    return None


def _tried(goal: Goal, question: Question, race: Race) -> Iterator[TriedFact]:
    """Yield what came of each change alone, by its last run."""
    rows = {heat_of(row.at[0]): row for row in question.rows if heat_of(row.at[0]).stage != "pair"}
    for name in race.changes:
        heat = next((each for each in (Heat((name,), "timed"), Heat((name,))) if each in race.finished), None)
        if heat is not None:
            finish = race.finished[heat]
            gain = finish.gain if heat.stage == "timed" or not race.timed else None
            untimed = "not timed, for want of time" if name in race.untimed() else ""
            yield TriedFact(name, gain, untimed or _outcome(goal, race, rows[heat]))


def _first_call_s(rows: Sequence[SweepRow]) -> float | None:
    seconds = [row.first_compiled_s for row in rows if row.first_compiled_s is not None]
    return statistics.median(seconds) if seconds else None


def _sentence(goal: Goal, question: Question, race: Race, recipe: RecipeFact | None) -> str:
    if recipe is not None:
        pairs = f"in {number(recipe.pairs)} pairs of fresh processes"
        return f"With {listed(recipe.changes)}, {NAMES[goal]} is {interval_words(recipe.gain)} {GAINS[goal]}, {pairs}."
    goes_on = race.next_heats() or any(row.state in WAITS for row in question.rows)
    if race.finished and not goes_on:
        if race.untimed() and not race.measured():
            return NO_TIME
        timed = "Nothing that was timed" if race.untimed() else "Nothing that was tried"
        return f"{timed} makes {NAMES[goal]} clearly {GAINS[goal]}."
    best = next(iter(race.ranked()), None)
    return f"Best so far, not proven: {listed(best)}, {interval_words(race.measured()[best])}." if best else ""


def _notes(goal: Goal, question: Question, race: Race, recipe: RecipeFact | None) -> tuple[str, ...]:
    """Return what the recipe costs, and the candidates that are not proven."""
    notes = []
    if recipe is not None:
        before_s, after_s = recipe.first_call_s
        if goal != "first-call" and before_s is not None and after_s is not None:
            notes.append(f"Its first call takes {duration_s(after_s)}, and {duration_s(before_s)} by default.")
        before_bytes, after_bytes = recipe.peak_bytes
        if goal != "memory" and before_bytes is not None and after_bytes is not None:
            notes.append(f"Its peak memory is {bytes_(after_bytes)}, and {bytes_(before_bytes)} by default.")
        strides = ", with other strides" if recipe.results == "other strides" else ""
        is_same = recipe.results in SAME
        notes.append(f"Its results {f'are those of eager{strides}' if is_same else 'differ from those of eager'}.")
        notes += [f"Against float64: {recipe.accuracy}."] if recipe.accuracy else []
    else:
        notes += _eager_words(goal, question)
    if race.untimed() and not race.is_searching:
        notes.append(f"Not timed, for want of time: {listed(race.untimed())}.")
    for changes in race.candidates():
        gain = race.pairs(changes)
        if gain is not None and race.proof(changes) is None:
            is_open = gain.high >= RELEVANT
            outcome = f"{agree(len(changes), 'is', 'are')} not proven" if is_open else "did not hold"
            notes.append(f"{listed(changes)} {outcome} in pairs of fresh processes: {interval_words(gain)}.")
    return tuple(notes)


def _eager_words(goal: Goal, question: Question) -> Iterator[str]:
    """Yield how much faster a call is without torch.compile."""
    row = next((row for row in question.rows if heat_of(row.at[0]) == unchanged(True)), None)
    if goal == "call" and row is not None and slower(row) and row.ratio is not None:
        yield f"Without torch.compile, a call is {interval_words(row.ratio.inverse())} faster."


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
        return f"the code of {twin}" if twin != UNCHANGED else "the default's code: nothing to measure"
    if finish.gain is None or (heat.stage == "compiled" and race.timed):
        return "not measurable" if heat.stage == "timed" else "code of its own"
    return GAINS[goal] if finish.gain.above else LOSSES[goal] if finish.gain.below else "no difference seen"


def _preset(name: str, title: str, question: str, goal: Goal) -> Preset:
    return Preset(name, title, question, partial(search_plan, goal), partial(answer, goal), more=partial(more, goal))


FASTER = _preset("faster", "Faster calls", "Which settings make a call faster, and does it hold?", "call")
SOONER = _preset("sooner", "Faster first call", "Which settings make the first call faster?", "first-call")
SMALLER = _preset("smaller", "Less memory", "Which settings need less memory at the peak?", "memory")
GOALS: Mapping[Goal, Preset] = {"call": FASTER, "first-call": SOONER, "memory": SMALLER}
