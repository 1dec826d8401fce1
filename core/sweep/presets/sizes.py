"""Presets of sizes: from which size compiled is faster, dynamic shapes, and bytes of memory.

`BUDGET` gives AOTAutograd's partitioner less and less of the activations that it would save by default: it recomputes
the others in the backward (`torch._functorch.config.activation_memory_budget`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.base.machine import Environment
from core.base.words import agree, bytes_, count, duration_s, exact, number, percent, share
from core.job import BATCH, CompileJob
from core.sweep.model import REPAIR, VARIANT, Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    CallParts,
    Crossover,
    MemoryFact,
    Plan,
    Preset,
    Question,
    ShapeFact,
    calls_of,
    ended,
    faster,
    label,
    listed,
    slower,
    speed_words,
)
from core.sweep.store import SweepRow

SHAPE_SIZES = (4, 16, 7, 64)
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


def shape_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each shape mode, all with the same calls of different sizes."""
    varied = replace(base, calls=calls_of(base, SHAPE_SIZES), sizes={}, marks=(), target="", rival=None)
    return Plan(varied, (Axis("variant", tuple(VARIANTS.values()), tuple(VARIANTS)),))


def shape_answer(question: Question) -> Answer:
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
    """Return the speed of each shape mode at the last size, if measured."""
    texts = [f"{label(row)}: {speed_words(row)}" for row in done if speed_words(row)]
    return (f"At the last size, {'; '.join(texts)}.",) if texts else ()


SHAPES = Preset(
    "shapes",
    "Shapes",
    "How often does a changing batch size recompile, with static and dynamic shapes?",
    shape_plan,
    shape_answer,
)


BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
NAMES = {BATCH: "batch"}
OUTSIDE = "outside"
FITTING = 1.1
PARTS = {
    OUTSIDE: "Dynamo's and autograd's runtime",
    "cold caches": "kernels' colder caches",
    "beside eager": "eager's traces in the caches",
}


def batch_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each batch size, a power of two from 1 to 512."""
    return Plan(replace(base, sizes={}, measure=True, target="", rival=None), (Axis(BATCH, BATCH_SIZES),))


def batch_answer(question: Question) -> Answer:
    """Return the sizes between which compiled becomes faster, and the parts of compiled calls."""
    field = question.sweep.axes[0].field
    done = ended(question.rows)
    crossing = crossover(field, done)
    parts = call_parts(done)
    return Answer(
        sentence=sentence(crossing, done) if crossing is not None else "",
        notes=_parts_notes(crossing, parts),
        facts=(*([crossing] if crossing else []), *parts),
    )


def value(row: SweepRow) -> float:
    """Return the value of a row's first axis as a number."""
    return float(row.at[0])


def crossover(field: str, rows: Sequence[SweepRow]) -> Crossover | None:
    """Return the sizes between which compiled becomes faster than eager; None without measurements."""
    timed = sorted((row for row in rows if row.ratio is not None), key=value)
    if not timed:
        return None
    behind = [place for place, row in enumerate(timed) if not faster(row)]
    first = behind[-1] + 1 if behind else 0
    ahead = [row for row in timed if faster(row)]
    return Crossover(
        field,
        slow=value(timed[first - 1]) if first else None,
        fast=value(timed[first]) if first < len(timed) else None,
        back=any(value(row) < value(timed[first - 1]) for row in ahead) if first else False,
    )


def sentence(crossing: Crossover, rows: Sequence[SweepRow]) -> str:
    """Return the crossover in words, as an interval between two measured sizes."""
    name = NAMES.get(crossing.field, f"`{crossing.field}`")
    values = [value(row) for row in rows if row.ratio is not None]
    low, high = _plain(min(values)), _plain(max(values))
    before = [
        _plain(value(row)) for row in rows if faster(row) and crossing.slow is not None and value(row) < crossing.slow
    ]
    if crossing.fast is None and crossing.back:
        words = f"Compiled is faster at {listed(before)}, but not at the largest {name}, {high}"
    elif crossing.fast is None:
        words = f"Compiled is not clearly faster than eager at {_span('any', name, low, high)}"
    elif crossing.slow is None:
        words = f"Compiled is faster than eager at {_span('every', name, low, high)}"
    else:
        words = f"Compiled becomes faster at a {name} between {_plain(crossing.slow)} and {_plain(crossing.fast)}"
        words += f"; also faster at {listed(before)}" if before else ""
    lost = [_plain(value(row)) for row in rows if slower(row)]
    words += f"; slower at {listed(lost)}" if lost else ""
    missing = [_plain(value(row)) for row in sorted(rows, key=value) if row.ratio is None]
    return f"{words}{f'; no measurement at {listed(missing)}' if missing else ''}."


def _span(each: str, name: str, low: str, high: str) -> str:
    return f"{name} {low}" if low == high else f"{each} {name} from {low} to {high}"


def call_parts(rows: Sequence[SweepRow]) -> tuple[CallParts, ...]:
    """Return the parts of compiled calls by size, without rows from a busy machine.

    The parts are timed one after another. A call is left out if the sum of its parts clearly exceeds the call's
    time.
    """
    timed = [row for row in sorted(rows, key=value) if row.compiled_s and row.parts_s and not row.disturbed]
    parts = (CallParts(label(row), row.compiled_s or 0.0, _parts(row)) for row in timed)
    return tuple(call for call in parts if sum(call.parts_s.values()) <= FITTING * call.compiled_s)


def _parts(row: SweepRow) -> dict[str, float]:
    """Return the measured parts; the time outside of the wrapper is divided into guards and the rest."""
    outside_s = row.parts_s.get(OUTSIDE, 0.0)
    guards_s = min(outside_s, (row.guards_us or 0.0) / 1e6)
    seconds_by_part = {**row.parts_s, "guards": guards_s, OUTSIDE: outside_s - guards_s}
    return {PARTS.get(name, name): seconds for name, seconds in seconds_by_part.items() if seconds > 0}


def _parts_notes(crossing: Crossover | None, parts: Sequence[CallParts]) -> tuple[str, ...]:
    """Return the parts of a compiled call at the smallest and at the largest size."""
    if crossing is None or not parts:
        return ()
    name = NAMES.get(crossing.field, f"`{crossing.field}`")
    ends = [parts[0], *([parts[-1]] if len(parts) > 1 else [])]
    texts = [f"at {name} {call.label}, {parts_words(call)}" for call in ends]
    return (f"Parts of a compiled call: {'; '.join(texts)}.",)


def parts_words(call: CallParts) -> str:
    """Return the parts of one compiled call with their times and shares."""
    shares = [f"{name} {duration_s(s)} ({share(s, call.compiled_s)})" for name, s in call.parts_s.items()]
    return f"{', '.join(shares)} of {duration_s(call.compiled_s)}"


def _plain(number: float) -> str:
    return exact(int(number)) if number == int(number) else exact(number)


BATCH_SIZE = Preset(
    "batch",
    "Batch size",
    "At which batch size does compiled become faster than eager, and why not before?",
    batch_plan,
    batch_answer,
    "lines",
    ("batch", "inputs"),
)


def memory_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with two cells: the forward alone, and the forward with its backward."""
    watched = replace(base, memory=True, measure=False, target="", rival=None)
    return Plan(watched, (Axis("training", (False, True), ("inference", "training")),))


def memory_answer(question: Question) -> Answer:
    """Return the eager and the compiled peak memory of each cell, and their difference."""
    facts = tuple(peaks for row in ended(question.rows) if (peaks := memory_fact(row)))
    return Answer(
        sentence=f"At its peak, {'; '.join(map(peak_words, facts))}." if facts else "",
        facts=facts,
    )


def memory_fact(row: SweepRow) -> MemoryFact | None:
    """Return the peaks of a row; None if not recorded."""
    if row.eager_peak_bytes is None or row.compiled_peak_bytes is None:
        return None
    return MemoryFact(label(row), row.eager_peak_bytes, row.compiled_peak_bytes)


def peak_words(peaks: MemoryFact) -> str:
    """Return a text such as `inference needs 1.05 MB compiled and 4.19 MB eagerly, 75.0 % less`."""
    both = f"{peaks.label} needs {bytes_(peaks.compiled_bytes)} compiled and {bytes_(peaks.eager_bytes)} eagerly"
    if not peaks.eager_bytes or peaks.eager_bytes == peaks.compiled_bytes:
        return both
    change = 1 - peaks.compiled_bytes / peaks.eager_bytes
    return f"{both}, {percent(abs(change))} {'less' if change > 0 else 'more'}"


MEMORY = Preset(
    "memory",
    "Memory",
    "What is the peak memory of an eager and a compiled call?",
    memory_plan,
    memory_answer,
)


BUDGETS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)
SET_BUDGET = f"{REPAIR}set_config:functorch:activation_memory_budget:"
# Smaller differences of peaks are noise of the allocator, and of times noise of the machine.
LEAST_BYTES, LEAST_TIME = 0.01, 0.05


def budget_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan that trains the model with each budget, written into its file; 1.0 is torch's default."""
    trained = replace(base, training=True, memory=True, measure=True, target="", rival=None)
    values: tuple[AxisValue, ...] = tuple({f"{SET_BUDGET}{str(budget).replace('.', '_')}": True} for budget in BUDGETS)
    return Plan(trained, (Axis(VARIANT, values, tuple(map(str, BUDGETS))),))


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """A training step with a budget: its peak, its seconds, and what the partition saves and recomputes.

    `is_quiet` is False if the machine was busy while the step was timed.
    """

    budget: str
    peak_bytes: int
    step_s: float
    saved_bytes: int
    recomputed: int
    is_quiet: bool = True


def budget_answer(question: Question) -> Answer:
    """Return the knee of peak memory against time, and budgets that cost memory or time for nothing."""
    points = [point for row in ended(question.rows) if (point := _budget_point(row))]
    knee = knee_of(points)
    marks = {point.budget: text for point, text in _odd_points(points)}
    marks |= {knee.budget: "knee"} if knee else {}
    return Answer(
        sentence=_budget_sentence(points, knee),
        notes=tuple(f"Budget {budget} {text}." for budget, text in marks.items() if text != "knee"),
        columns={
            "saved for backward": tuple("" if row.saved is None else bytes_(row.saved[0]) for row in question.rows),
            "recomputed": tuple("" if row.saved is None else count(row.saved[1], "op") for row in question.rows),
            "mark": tuple(marks.get(label(row), "") for row in question.rows),
        },
        facts=tuple(
            MemoryFact(label(row), row.eager_peak_bytes or 0, row.compiled_peak_bytes or 0)
            for row in ended(question.rows)
            if row.compiled_peak_bytes is not None
        ),
        code=_budget_code(knee) if knee else "",
    )


def _budget_code(knee: BudgetPoint) -> str:
    return f"import torch._functorch.config\n\ntorch._functorch.config.activation_memory_budget = {knee.budget}\n"


def _budget_point(row: SweepRow) -> BudgetPoint | None:
    if row.compiled_peak_bytes is None or row.compiled_s is None or row.saved is None:
        return None
    return BudgetPoint(label(row), row.compiled_peak_bytes, row.compiled_s, *row.saved, not row.disturbed)


def knee_of(points: Sequence[BudgetPoint]) -> BudgetPoint | None:
    """Return the point that saves most memory for its time: farthest from the line between both ends.

    None if the smallest budget saves no memory, or if no point lies clearly below the line.
    """
    if len(points) < 3:
        return None
    first, last = points[0], min(points, key=lambda point: point.peak_bytes)
    saved = first.peak_bytes - last.peak_bytes
    if saved < LEAST_BYTES * first.peak_bytes:
        return None
    costs_s = max(point.step_s for point in points) - first.step_s

    def gain(point: BudgetPoint) -> float:
        """Return the share of the saved memory, less the share of the added time."""
        slower_s = point.step_s - first.step_s
        return (first.peak_bytes - point.peak_bytes) / saved - (slower_s / costs_s if costs_s > 0 else 0.0)

    best = max(points, key=gain)
    return best if gain(best) > LEAST_TIME else None


def _odd_points(points: Sequence[BudgetPoint]) -> Iterator[tuple[BudgetPoint, str]]:
    """Yield the points that are not monotonic, with a text: more memory or less time than a larger budget."""
    for larger, smaller in pairwise(points):
        if smaller.peak_bytes > larger.peak_bytes * (1 + LEAST_BYTES):
            yield smaller, f"needs more memory than {larger.budget}"
        elif not (smaller.is_quiet and larger.is_quiet) or smaller.recomputed <= larger.recomputed:
            continue
        elif smaller.step_s < larger.step_s * (1 - LEAST_TIME):
            yield smaller, f"recomputes more and is faster than {larger.budget}"


def _budget_sentence(points: Sequence[BudgetPoint], knee: BudgetPoint | None) -> str:
    if len(points) < 2:
        return ""
    first, least = points[0], min(points, key=lambda point: point.peak_bytes)
    if least.peak_bytes > first.peak_bytes * (1 - LEAST_BYTES):
        return f"No budget lowers the peak of {bytes_(first.peak_bytes)}: it is not that of saved activations."
    chosen = knee or least
    less = percent(1 - chosen.peak_bytes / first.peak_bytes)
    peaks = f"{bytes_(chosen.peak_bytes)} instead of {bytes_(first.peak_bytes)}, {less} less"
    times = f"{duration_s(chosen.step_s)} a step instead of {duration_s(first.step_s)}"
    best = f"{'The knee is at' if knee else 'The smallest peak has'} budget {chosen.budget}"
    return f"{best}: a peak of {peaks}, for {times}."


BUDGET = Preset(
    "budget",
    "Activation budget",
    "How much memory does recomputing activations save, and what does it cost?",
    budget_plan,
    budget_answer,
)
