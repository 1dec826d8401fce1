"""Preset that turns off one rewrite of Inductor after the other, to see what each saves or costs.

A rewrite is a pass that changed the model's graphs, by torch's name for it, or a rule of code generation. A rewrite
without which the output code is the same is not timed. Each other one is timed against the unchanged job in two
processes: a claim needs both, each with 99 % bounds, so that a hundred rewrites without an effect get a wrong claim in
less than one sweep of a hundred. At last, the rewrites with the largest effects are turned off two at a time.

A rewrite that changes nothing alone may do the work of another, or undo it. All of these are turned off at once, also
beside each of the largest effects. If the code then differs, halves of them are turned off, until the fewest are found.
"""

import itertools
import math
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.analysis.interval import RELEVANT, Interval
from core.analysis.repairs.settings import compiles_itself
from core.base.errors import JobError
from core.base.machine import Environment
from core.base.words import duration_s, number
from core.job import CompileJob
from core.job.prepared import model_code
from core.job.text import compile_options_as_text
from core.sweep.model import OPTIONS, RIVAL, VARIANT, Axis, AxisValue, applied
from core.sweep.presets.changes import COMPILED, INDUCTOR, RULES, mode_as_options, plain_job
from core.sweep.presets.faster import NOISE, Fields, finish_of
from core.sweep.presets.preset import (
    WAITS,
    Answer,
    Plan,
    Preset,
    Question,
    TriedFact,
    broken,
    interval_words,
    listed,
    reason,
)
from core.sweep.presets.race import UNCHANGED, Heat, Race, equal_code, heat_of, unchanged
from core.sweep.store import SweepRow

DISABLED, WITHOUT = "disabled_passes", "without "
# Processes in which a rewrite is timed: each has its own memory addresses, which alone can change a call by 2 %.
PROCESSES = 2
NO_EFFECT = "No rewrite makes a call clearly faster or slower."
NOT_TIMED = "No rewrite was timed: the times of the unchanged job are not measurable here."
NO_SWITCH = "it ran all the same: torch does not turn it off"
MOST_TOGETHER = 3  #: rewrites with the largest effects that are turned off two at a time
ALONE = Interval(1.0, 1.0, 1.0)


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return the unchanged job, and a cell without each rule of code generation; raises JobError."""
    plain = plain_job("call", base)
    plain = applied(plain, VARIANT, mode_as_options(plain, environment))
    if compiles_itself(model_code(plain), plain.model.name):
        raise JobError("model", "its file calls torch.compile itself: name a model that is not compiled there")
    known = {option.name for option in environment.options if option.module == INDUCTOR}
    rules = [Heat((name,)) for name, (option, _) in RULES.items() if option in known]
    cells = [_cell(plain, heat) for heat in (unchanged(True), *rules)]
    return Plan(plain, (Axis(VARIANT, tuple(fields for _, fields in cells), tuple(label for label, _ in cells)),))


def _heat_of(label: str) -> Heat:
    """Return the heat of a cell's label, which names the rewrites that are off."""
    return heat_of(label.removeprefix(WITHOUT))


def _cell(base: CompileJob, heat: Heat) -> tuple[str, Fields]:
    """Return the label and the fields of a heat, whose changes are the rewrites that are off."""
    own = str((base.compile.options or {}).get(DISABLED) or "")
    passes = [*filter(None, [own]), *(name.upper() for name in heat.changes if name not in RULES)]
    rules = [RULES[name] for name in heat.changes if name in RULES]
    fields: Fields = {f"{OPTIONS}{option}": value for option, value in rules}
    fields |= {f"{OPTIONS}{DISABLED}": ",".join(passes)} if passes else {}
    fields |= {RIVAL: compile_options_as_text(base.compile)} if heat.stage == "timed" else COMPILED
    return f"{WITHOUT if heat.changes else ''}{heat.label}", fields


@dataclass(frozen=True, slots=True)
class Trials:
    """Runs so far without each rewrite. `names` are the passes that changed a graph, then the rules."""

    base: CompileJob
    names: tuple[str, ...]
    rows: Mapping[Heat, SweepRow]
    race: Race

    @property
    def first(self) -> SweepRow | None:
        """The unchanged job's row; None before its run."""
        return self.rows.get(unchanged(True))

    @property
    def call_s(self) -> float:
        """Seconds of a call of the unchanged job; 0 if not measured."""
        return (self.first.compiled_s if self.first else None) or 0.0

    @property
    def is_measurable(self) -> bool:
        """True if the unchanged job was timed against itself."""
        return self.first is not None and self.first.against is not None

    def gains(self, changes: tuple[str, ...]) -> list[Interval]:
        """Return the unchanged job's time over the time without these rewrites, from each process that counts."""
        finished = [self.race.finished.get(heat) for heat in _timed(changes)]
        return [finish.gain for finish in finished if finish and finish.counts and finish.gain is not None]

    def effect(self, changes: tuple[str, ...]) -> Interval | None:
        """Return the wider bounds of both processes; None unless both have the same clear difference."""
        gains = self.gains(changes)
        if len(gains) < PROCESSES or not (all(gain.above for gain in gains) or all(gain.below for gain in gains)):
            return None
        return Interval(
            min(gain.low for gain in gains),
            math.prod(gain.middle for gain in gains) ** (1 / len(gains)),
            max(gain.high for gain in gains),
        )

    def effects(self) -> dict[str, Interval]:
        """Return the rewrites with a clear effect, the largest first."""
        found = {name: effect for name in self.names if (effect := self.effect((name,)))}
        return dict(sorted(found.items(), key=lambda pair: pair[1].distance, reverse=True))

    def together(self) -> list[tuple[str, ...]]:
        """Return the sets of rewrites that are timed with all of them off."""
        sets = [*itertools.combinations(self._largest, 2), *(found for _, found in self._hidden() if found)]
        return list(dict.fromkeys(sets))

    @property
    def _largest(self) -> tuple[str, ...]:
        return self._ordered([*self.effects()][:MOST_TOGETHER])

    def _ordered(self, names: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in self.names if name in names)

    def _hidden(self) -> Iterator[tuple[Heat | None, tuple[str, ...]]]:
        """Yield the heat to run next, or the rewrites that depend on each other, for each large effect.

        All but that one leave the code as it is if they alone are off. The first set has no rewrite with an effect.
        """
        same = [name for name in self.names if equal_code(self.race, name) == UNCHANGED]
        idle = [name for name in same if name not in self.rows[Heat((name,))].passes]
        for base in ((), *((name,) for name in self._largest)):
            search = self._fewest(base, idle)
            try:
                yield next(search), ()
            except StopIteration as end:
                yield None, end.value

    def _fewest(self, base: tuple[str, ...], idle: Sequence[str]) -> Generator[Heat, None, tuple[str, ...]]:
        """Return the base with the fewest others that change its code; yield a heat that must run first."""
        found = base
        while idle and (yield from self._acts(base, (*found, *idle))):
            without, until = 0, len(idle)
            while until - without > 1:
                middle = (without + until) // 2
                acts = yield from self._acts(base, (*found, *idle[:middle]))
                without, until = (without, middle) if acts else (middle, until)
            found, idle = (*found, idle[until - 1]), idle[: until - 1]
            if (yield from self._acts(base, found)):
                return self._ordered(found)
        return ()

    def _acts(self, base: tuple[str, ...], names: tuple[str, ...]) -> Generator[Heat, None, bool]:
        heat, before = Heat(self._ordered(names)), Heat(base) if base else unchanged(True)
        if heat not in self.race.finished:
            yield heat
        finish = self.race.finished[heat]
        return finish.counts and bool(finish.code) and finish.code != self.race.finished[before].code

    def waiting(self) -> Iterator[Heat]:
        """Yield the heats to run now: each rewrite compiled, distinct ones timed, then several at once."""
        if self.first is None or self.first.state != "done":
            return
        stages = (
            [Heat((name,)) for name in self.names],
            [heat for name in self.race.distinct() for heat in _timed((name,))],
            [heat for heat, _ in self._hidden() if heat is not None],
            [heat for both in self.together() for heat in _timed(both)],
        )
        for stage in stages if self.is_measurable else stages[:1]:
            left = [heat for heat in stage if heat not in self.rows]
            if left:
                yield from left
                return


def _timed(changes: tuple[str, ...]) -> list[Heat]:
    return [Heat(changes, "timed", number) for number in range(1, PROCESSES + 1)]


def _trials(question: Question) -> Trials:
    rows = {_heat_of(row.at[0]): row for row in question.rows}
    first = rows.get(unchanged(True))
    alone = {heat: row for heat, row in rows.items() if len(heat.changes) == 1 and heat.stage == "compiled"}
    rules = [name for heat in alone for name in heat.changes if name in RULES]
    # A pass may change a graph only if another one, which does the same, is off.
    passes = [name for row in (first, *alone.values()) if row is not None for name in row.passes]
    names = tuple(dict.fromkeys([*passes, *rules]))
    finished = {heat: finish_of("call", heat, row, first, {}) for heat, row in rows.items() if row.settled}
    return Trials(question.sweep.base, names, rows, Race(names, finished))


def more(question: Question) -> tuple[tuple[str, AxisValue], ...]:
    """Return the label and fields of each cell to add now."""
    trials = _trials(question)
    return tuple(_cell(trials.base, heat) for heat in trials.waiting())


def answer(question: Question) -> Answer:
    """Return what each rewrite saves or costs in a call, and which ones change nothing here."""
    trials = _trials(question)
    outcomes = {name: _outcome(trials, name) for name in trials.names}
    return Answer(
        sentence=_sentence(question, trials),
        notes=tuple(_notes(trials)),
        columns={
            "off": tuple(_gain_words(trials, row) for row in question.rows),
            "what came of it": tuple(_row_words(trials, row) for row in question.rows),
        },
        facts=tuple(TriedFact(name, trials.effect((name,)), words) for name, words in outcomes.items() if words),
    )


def _sentence(question: Question, trials: Trials) -> str:
    told = [f"{name} {_effect_words(trials, gain)}" for name, gain in trials.effects().items()]
    if told:
        return f"Of a call of {duration_s(trials.call_s)}, {listed(told)}."
    goes_on = next(trials.waiting(), None) is not None or any(row.state in WAITS for row in question.rows)
    if goes_on or not trials.race.finished:
        return ""
    return NO_EFFECT if trials.is_measurable else NOT_TIMED


def _effect_words(trials: Trials, gain: Interval) -> str:
    """Return what a rewrite does to a call: without it, a call takes the default's time over `gain`."""
    saved_s = trials.call_s * (1 / gain.middle - 1)
    return f"{'saves' if saved_s > 0 else 'costs'} {duration_s(abs(saved_s))}"


def _outcome(trials: Trials, name: str) -> str:
    """Return what a rewrite does in a few words; empty before its trials have ended."""
    row = trials.rows.get(Heat((name,)))
    finish = trials.race.finished.get(Heat((name,)))
    if row is None or finish is None:
        return ""
    if row in broken([row]):
        return f"without it: {reason(row) or row.state}"
    if not finish.same:
        return f"other results without it: {row.results_words or row.results}"
    twin = equal_code(trials.race, name)
    if twin == UNCHANGED:
        return NO_SWITCH if name in row.passes else "the same code without it"
    if twin:
        return f"the same code as without {twin}"
    gain = trials.effect((name,))
    if gain is not None:
        return _effect_words(trials, gain)
    return "no difference seen" if len(trials.gains((name,))) == PROCESSES else ""


def _notes(trials: Trials) -> Iterator[str]:
    """Yield the rewrites that depend on each other: the time without both is not that of both effects."""
    effects = trials.effects()
    for names in trials.together():
        gains, alone = trials.gains(names), [effects.get(name, ALONE) for name in names]
        if len(gains) < PROCESSES:
            continue
        low, middle, high = (math.prod(getattr(each, bound) for each in alone) for bound in ("low", "middle", "high"))
        if all(gain.high * RELEVANT < low for gain in gains) or all(gain.low > high * RELEVANT for gain in gains):
            yield (
                f"{listed(names)} depend on each other: without {'both' if len(names) == 2 else 'all'}, a call is "
                f"{interval_words(gains[0])} as fast, and {number(middle)}× would be expected."
            )


def _gain_words(trials: Trials, row: SweepRow) -> str:
    finish = trials.race.finished.get(_heat_of(row.at[0]))
    return interval_words(finish.gain) if finish is not None and finish.gain is not None else ""


def _row_words(trials: Trials, row: SweepRow) -> str:
    heat = _heat_of(row.at[0])
    if not heat.changes:
        return NOISE
    return _outcome(trials, heat.changes[0]) if heat.stage == "compiled" and len(heat.changes) == 1 else ""


REWRITES = Preset(
    "rewrites",
    "Rewrites",
    "Which pass or rule of code generation makes a call faster, and which slower?",
    plan,
    answer,
    more=more,
)
