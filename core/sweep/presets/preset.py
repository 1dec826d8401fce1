"""Preset: a question about a job, with the axes of its sweep and the answer from the sweep's rows.

This module also has the types of facts in an answer, queries over rows, and the answer for custom axes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.analysis.dynamo.costs import FrameStart
from core.analysis.interval import Interval
from core.base.machine import Environment
from core.base.words import agree, count, duration_s, number, ratio, word_list
from core.job import BATCH, CompileJob
from core.job.arguments import own_call, resized_call, tensor_sizes
from core.report import How
from core.sweep.model import Axis, AxisValue, Sweep
from core.sweep.store import SweepRow

FEW = "too few samples to say"
WAITS: tuple[str, ...] = ("waiting", "queued", "running")
STOPPED: tuple[str, ...] = ("cancelled", "interrupted")
# End of torch's message, after the reason: hints on logging, and the place in torch's own code.
ADVICE = re.compile(
    r"\s*(Set TORCHDYNAMO_VERBOSE|You can suppress this exception|from user code:|File \").*", re.DOTALL
)
# Begin of torch's message, before a backend's reason.
RAISED = re.compile(r"^.*?backend='[^']*' raised:\s*", re.DOTALL)
LONGEST_REASON = 240  #: characters of torch's reason in a preset's answer
Stop = Literal["", "Dynamo", "AOTAutograd", "code generation"]
Picture = Literal["bars", "lines", "cumulative", "calls"]


def ended(rows: Iterable[SweepRow]) -> tuple[SweepRow, ...]:
    """Return the rows with the state done."""
    return tuple(row for row in rows if row.state == "done")


def broken(rows: Iterable[SweepRow]) -> tuple[SweepRow, ...]:
    """Return the rows that ended with an error."""
    return tuple(row for row in rows if row.state not in ("done", *WAITS, *STOPPED))


def label(row: SweepRow) -> str:
    """Return a row's labels in words."""
    return ", ".join(row.at)


def reason(row: SweepRow) -> str:
    """Return torch's reason why a cell failed, cut at 240 characters; empty if the cell has no error.

    Torch's prefix and its hints on more verbose output are left out.
    """
    text = ADVICE.sub("", row.error)
    text = " ".join(RAISED.sub("", text).split()).removesuffix(":")
    return text[:LONGEST_REASON] + ("…" if len(text) > LONGEST_REASON else "")


def faster(row: SweepRow) -> bool:
    """Return True if compiled is clearly faster than eager."""
    return row.clear and row.ratio is not None and row.ratio.low > 1


def slower(row: SweepRow) -> bool:
    """Return True if compiled is clearly slower than eager."""
    return row.clear and row.ratio is not None and row.ratio.high < 1


def speed_fact(row: SweepRow) -> SpeedFact:
    return SpeedFact(label(row), row.eager_s, row.compiled_s, row.ratio, row.clear)


def speed_words(row: SweepRow) -> str:
    """Return the speedup of a row in words; empty if not measured.

    The words claim a difference only if the interval supports the claim.
    """
    if row.eager_s is None or row.compiled_s is None:
        return ""
    if row.ratio is None:
        return row.claim or FEW
    if faster(row):
        return f"{interval_words(row.ratio)} faster than eager"
    if slower(row):
        return f"{interval_words(row.ratio.inverse())} slower than eager"
    return f"no difference seen ({number(row.ratio.low)}–{number(row.ratio.high)}×)"


def interval_words(interval: Interval) -> str:
    """Return a ratio with its bounds."""
    return ratio(interval.middle, (interval.low, interval.high))


def quickest(rows: Sequence[SweepRow]) -> SweepRow | None:
    """Return the row with the shortest compiled call.

    None if no call was timed, or if the quartiles of the two shortest calls overlap or are missing.
    """
    timed = sorted((row for row in rows if row.compiled_s is not None), key=lambda row: row.compiled_s or 0.0)
    if not timed:
        return None
    if len(timed) == 1:
        return timed[0]
    first, second = timed[0].compiled_quartiles_s, timed[1].compiled_quartiles_s
    apart = first is not None and second is not None and first[1] < second[0]
    return timed[0] if apart else None


def seconds(value: float | None) -> str:
    """Return seconds in words; empty if not recorded."""
    return "" if value is None else duration_s(value)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a sentence: `a, b and c`; the rest as a count."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {number(len(names) - most)} more"
    return word_list(names)


@dataclass(frozen=True, slots=True)
class BackendFact:
    """A backend: its work, its last stage in the log, and torch's reason if it cannot run here."""

    name: str
    does: str
    stops: Stop
    runs: bool
    reason: str = ""
    tags: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class ModeFact:
    """A mode: its settings, and its changes compared with the default mode.

    `same` is True if both modes have the same kernels, passes and choices, None if the run of either mode is not done.
    `wrapper` is True if the code around the kernels is the same, too. `generated` has the numbers of generated kernels
    with the mode and with the default mode.
    """

    name: str
    sets: dict[str, bool | int | float | str | None] | None
    same: bool | None
    wrapper: bool = True
    generated: tuple[int, int] = (0, 0)
    kernels_more: tuple[str, ...] = ()
    kernels_less: tuple[str, ...] = ()
    passes_more: tuple[str, ...] = ()
    passes_less: tuple[str, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)
    skips: int = 0
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """Cost of several sizes in one shape mode: compilations, seconds, kernels."""

    name: str
    sizes: int
    compilations: int
    compile_s: float | None
    kernels: int | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """Sizes at which compiled becomes faster than eager.

    `slow` is the largest size at which compiled is not measurably faster, None if it is faster at all sizes.
    `fast` is the size from which compiled is always faster, None if there is no such size. `back` is True if
    compiled is faster at a size below `slow`.
    """

    field: str
    slow: float | None
    fast: float | None
    back: bool = False


@dataclass(frozen=True, slots=True)
class CallParts:
    """Seconds of a compiled call in the steady state, and of its separately measured parts."""

    label: str
    compiled_s: float
    parts_s: dict[str, float]


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Number of calls after which compiling pays off.

    `calls` has a lower and an upper bound, None if compiling does not measurably pay off. `cost_s` is the time of the
    calls beyond the steady state, None if not measured.
    """

    label: str
    calls: tuple[int, int] | None
    cost_s: float | None


@dataclass(frozen=True, slots=True)
class StanceFact:
    """Calls in a stance: the total compilations after each call, and how each call was executed."""

    name: str
    compilations: tuple[int, ...]
    how: tuple[How, ...]


@dataclass(frozen=True, slots=True)
class SpeedFact:
    """Speed of a cell's compiled calls compared with its eager calls."""

    label: str
    eager_s: float | None
    compiled_s: float | None
    ratio: Interval | None
    clear: bool


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """Peaks of a cell's eager and compiled calls, in bytes."""

    label: str
    eager_bytes: int
    compiled_bytes: int


@dataclass(frozen=True, slots=True)
class ResultFact:
    """Results of a cell compared with eager's."""

    label: str
    outcome: str
    words: str


@dataclass(frozen=True, slots=True)
class RungFact:
    """A rung of the ladder: its backend, the part of torch.compile that it adds, and its outcome.

    `outcome` is the comparison with eager or the error, empty before the rung has ended; `bad` is True if it raises or
    differs.
    """

    name: str
    adds: str
    outcome: str
    bad: bool


@dataclass(frozen=True, slots=True)
class RecipeFact:
    """Changes that are proven to help, and the code that sets them.

    `gain` is the default's value over theirs, from `pairs` pairs of fresh processes. `first_call_s` are the median
    seconds of the first call, `peak_bytes` the peak memory, by default and with the changes; None if not measured.
    `accuracy` is the comparison with float64, `results` that with eager. `run` ran the model's file with the changes.
    """

    changes: tuple[str, ...]
    code: str
    gain: Interval
    pairs: int
    first_call_s: tuple[float | None, float | None]
    peak_bytes: tuple[int | None, int | None] = (None, None)
    accuracy: str = ""
    results: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class TriedFact:
    """A change that was tried alone: its gain, None if it was not timed, and what came of it."""

    change: str
    gain: Interval | None
    outcome: str


@dataclass(frozen=True, slots=True)
class StartFact:
    """Start of a process with some state of torch's caches.

    `compile_s` are the seconds of torch's phases, `first_call_s` those of the first compiled call. `bundle_bytes` is
    the size of the loaded bundle, 0 without one. `frames` are the compilations that took longest.
    """

    label: str
    compile_s: float | None
    first_call_s: float | None
    bundle_bytes: int
    frames: tuple[FrameStart, ...]


Fact = (
    BackendFact
    | ModeFact
    | ShapeFact
    | Crossover
    | CallParts
    | BreakEven
    | StanceFact
    | SpeedFact
    | MemoryFact
    | ResultFact
    | RungFact
    | RecipeFact
    | TriedFact
    | StartFact
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A sweep to start: the job that all cells share, and the axes."""

    base: CompileJob
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Input of an answer: the sweep, its rows so far, and the environment, None if unknown."""

    sweep: Sweep
    rows: tuple[SweepRow, ...]
    environment: Environment | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A preset's answer: a sentence, notes, and its facts.

    `code` is the Python code that the answer advises, empty without any. `columns` have an additional text for each
    row; the sentence is empty as long as no row has a result.
    """

    sentence: str
    notes: tuple[str, ...] = ()
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """A question: its names, text, sweep, answer and picture.

    `fields` are fields of the job, such as `batch`. A sweep with a single axis that changes such a field gets
    this preset. `more` returns the label and value of each cell that a sweep gets when all its cells have ended; None
    for a preset whose plan has all cells.
    """

    name: str
    title: str
    question: str
    plan: Callable[[CompileJob, Environment], Plan]
    answer: Callable[[Question], Answer]
    picture: Picture = "bars"
    fields: tuple[str, ...] = ()
    more: Callable[[Question], tuple[tuple[str, AxisValue], ...]] | None = None


def calls_of(base: CompileJob, sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the job's calls if they differ in size; otherwise return one call at each batch size.

    The resized call is the job's first call, or the model's own call if the job has none.
    """
    own_sizes = [tensor_sizes(text) for text in base.calls]
    if any(sizes != own_sizes[0] for sizes in own_sizes):
        return base.calls

    if base.calls:
        return tuple(resized_call(base.calls[0], size) for size in sizes)
    return tuple(own_call({BATCH: size}, as_given=True) for size in sizes)


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan without axes, since the user defines them."""
    return Plan(base, ())


def answer(question: Question) -> Answer:
    """Return how many cells are faster or slower compiled, and the cell with the fastest compiled call."""
    done, failed = ended(question.rows), broken(question.rows)
    timed = [row for row in done if row.ratio is not None]
    parts = []
    if timed:
        ahead, behind = (sum(map(test, timed)) for test in (faster, slower))
        parts.append(
            f"Compiled is faster in {number(ahead)} of {count(len(timed), 'cell')}, slower in {number(behind)}"
        )
    elif done:
        parts.append(f"{count(len(done), 'cell')} {agree(len(done), 'is', 'are')} done, and nothing was timed")
    best = quickest([row for row in timed if not row.disturbed])
    if best is not None and len(timed) > 1:
        parts.append(f"the quickest is {label(best)} with {duration_s(best.compiled_s)}, {speed_words(best)}")
    if failed:
        parts.append(f"{count(len(failed), 'cell')} failed")
    unlike = [label(row) for row in done if row.results == "differs"]
    if unlike:
        parts.append(f"results differ from eager's with {listed(unlike)}")
    sentence = "; ".join(parts)
    return Answer(
        sentence=f"{sentence[:1].upper()}{sentence[1:]}." if parts else "",
        facts=tuple(map(speed_fact, timed)),
    )


OWN = Preset("own", "Axes of your own", "How does the run change along your axes?", plan, answer)
