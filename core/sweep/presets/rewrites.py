"""Preset that turns off one rewrite of Inductor after the other, to see what each saves or costs.

A rewrite is a pass that changed the model's graphs, by torch's name for it, or a rule of code generation. A rewrite
without which the output code is the same is not timed. Each other one is timed against the unchanged job in two
processes: a claim needs both. At last, the rewrites with the largest effects are turned off together, two at a time.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
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
from core.sweep.presets.changes import COMPILED, INDUCTOR, mode_as_options, plain_job
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
# Rule of code generation → Inductor's option and the value that turns it off.
RULES: Mapping[str, tuple[str, bool | int]] = {
    "fusion": ("max_fusion_size", 1),
    "fusion in another loop order": ("loop_ordering_after_fusion", False),
    "fusion into templates": ("epilogue_fusion", False),
    "pattern matcher": ("pattern_matcher", False),
    "split reductions": ("split_reductions", False),
    "layout optimization": ("layout_optimization", False),
    "padding of matmuls": ("shape_padding", False),
    "padding of strides": ("comprehensive_padding", False),
    "results in their inputs' buffers": ("inplace_buffers", False),
    "reuse of buffers": ("allow_buffer_reuse", False),
    "order for peak memory": ("reorder_for_peak_memory", False),
    "vector code": ("cpp.simdlen", 1),
    "vector code for loop tails": ("cpp.enable_loop_tail_vec", False),
    "tiling by heuristics": ("cpp.enable_tiling_heuristics", False),
}
# Processes in which a rewrite is timed: each has its own memory addresses, which alone can change a call by 2 %.
PROCESSES = 2
NO_EFFECT = "No rewrite makes a call clearly faster or slower."
NOT_TIMED = "No rewrite was timed: the times of the unchanged job are not measurable here."
NO_SWITCH = "it ran all the same: torch does not turn it off"
MOST_TOGETHER = 3  #: rewrites with the largest effects that are turned off two at a time


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
        """Return the sets of rewrites that are turned off at once."""
        largest = list(self.effects())[:MOST_TOGETHER]
        return list(itertools.combinations([name for name in self.names if name in largest], 2))

    def waiting(self) -> Iterator[Heat]:
        """Yield the heats to run now: all rewrites compiled, then the distinct ones timed, then two at a time.

        None if the unchanged job failed.
        """
        if self.first is None or self.first.state != "done":
            return
        stages = (
            [Heat((name,)) for name in self.names],
            [heat for name in self.race.distinct() for heat in _timed((name,))],
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
    rules = [heat.changes[0] for heat in rows if len(heat.changes) == 1 and heat.changes[0] in RULES]
    names = tuple(dict.fromkeys([*(first.passes if first else ()), *rules]))
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
    for first, second in trials.together():
        gains = trials.gains((first, second))
        if len(gains) < PROCESSES:
            continue
        low, high = (getattr(effects[first], bound) * getattr(effects[second], bound) for bound in ("low", "high"))
        if all(gain.high * RELEVANT < low for gain in gains) or all(gain.low > high * RELEVANT for gain in gains):
            middle = effects[first].middle * effects[second].middle
            yield (
                f"{first} and {second} depend on each other: without both, a call is {interval_words(gains[0])} "
                f"as fast, and {number(middle)}× would be expected."
            )


def _gain_words(trials: Trials, row: SweepRow) -> str:
    finish = trials.race.finished.get(_heat_of(row.at[0]))
    return interval_words(finish.gain) if finish is not None and finish.gain is not None else ""


def _row_words(trials: Trials, row: SweepRow) -> str:
    heat = _heat_of(row.at[0])
    if not heat.changes:
        return NOISE
    return _outcome(trials, heat.changes[0]) if heat.stage == "compiled" else ""


REWRITES = Preset(
    "rewrites",
    "Rewrites",
    "Which pass or rule of code generation makes a call faster, and which slower?",
    plan,
    answer,
    more=more,
)
