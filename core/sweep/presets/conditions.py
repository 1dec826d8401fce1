"""Presets of one condition: dtype, inference or training, number of threads, number of calls.

`MEMORY` compares the peaks of an eager and a compiled call, in inference and training. `NUMERICS` compares
eager and compiled results with float64, in each floating dtype below float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.analysis.speed import calls_to_pay
from core.base.machine import Environment
from core.base.words import bytes_, calls_after, count, duration_s, percent, ratio
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.preset import (
    Answer,
    BreakEven,
    MemoryFact,
    Plan,
    Preset,
    Question,
    ResultFact,
    ended,
    faster,
    interval_words,
    label,
    listed,
    quickest,
    seconds,
    speed_fact,
    speed_words,
)
from core.sweep.store import SweepRow

DTYPES = ("float32", "bfloat16", "float16", "float64")
MOST_THREADS = 64  #: limit: threads in the preset on threads
FLOATING = ("float32", "bfloat16", "float16")


def dtypes(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell per floating dtype; model and inputs are cast to the dtype."""
    return Plan(_with_measuring(base), (Axis("dtype", DTYPES),))


def trainings(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with two cells: the forward alone, and the forward with its backward."""
    return Plan(_with_measuring(base), (Axis("training", (False, True), ("inference", "training")),))


def threads(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each power of two below the number of CPUs, and for that number.

    The number of CPUs is limited to 64.
    """
    most = min(max(1, environment.cpus), MOST_THREADS)
    counts = sorted({*(2**power for power in range(7) if 2**power < most), most})
    return Plan(_with_measuring(base), (Axis("threads", tuple(counts)),))


def _with_measuring(base: CompileJob) -> CompileJob:
    return replace(base, measure=True, target="", rival=None)


def answer(question: Question) -> Answer:
    """Return each cell's ratio, the fastest compiled call, and cells whose results differ from eager's."""
    done = ended(question.rows)
    return Answer(
        sentence=_sentence(done),
        notes=_unlike(done),
        facts=tuple(map(speed_fact, done)),
    )


def _sentence(done: Sequence[SweepRow]) -> str:
    texts = [f"{label(row)}: {speed_words(row)}" for row in done if speed_words(row)]
    if not texts:
        return ""
    best = quickest([row for row in done if not row.disturbed])
    first = f"Compiled is quickest with {label(best)}, {duration_s(best.compiled_s)}; " if best and done[1:] else ""
    return f"{first}{'; '.join(texts)}."


def _unlike(done: Sequence[SweepRow]) -> tuple[str, ...]:
    """Return the cells whose results differ from their eager results, in words."""
    names = [f"{label(row)} ({row.results_words})" for row in done if row.results == "differs"]
    return (f"Results differ from eager's with {listed(names)}.",) if names else ()


def training_answer(question: Question) -> Answer:
    """Return the ratios of inference and training, and the wrapper's times of forward and backward."""
    result = answer(question)
    parts = tuple(
        f"{label(row)}: " + ", ".join(f"{name} {duration_s(part)}" for name, part in row.directions_s.items())
        for row in ended(question.rows)
        if row.directions_s
    )
    notes = (f"In Inductor's wrapper, a call takes: {'; '.join(parts)}.",) if parts else ()
    return replace(result, notes=(*notes, *result.notes))


def threads_answer(question: Question) -> Answer:
    """Return the change in eager and compiled time from the fewest to the most threads."""
    result = answer(question)
    done = sorted(
        (row for row in ended(question.rows) if row.eager_s and row.compiled_s), key=lambda row: int(row.at[0])
    )
    if len(done) < 2:
        return result
    fewest, most = done[0], done[-1]
    eager = (fewest.eager_s or 0.0) / (most.eager_s or 1.0)
    compiled = (fewest.compiled_s or 0.0) / (most.compiled_s or 1.0)
    ends = f"From {label(fewest)} to {count(int(most.at[0]), 'thread')}"
    words = f"{ends} eager takes {ratio(1 / eager)} its time, compiled {ratio(1 / compiled)}"
    ratios = [f"{interval_words(row.ratio)} with {label(row)}" for row in (fewest, most) if row.ratio is not None]
    return replace(result, sentence=f"{words}; eager over compiled: {', '.join(ratios)}.")


DTYPE = Preset(
    "dtype",
    "Dtype",
    "How fast is the model in each floating dtype, and are its results eager's?",
    dtypes,
    answer,
    fields=("dtype",),
)
TRAINING = Preset(
    "training",
    "Inference or training",
    "Does compiling pay for the forward alone, and for the forward with its backward?",
    trainings,
    training_answer,
    fields=("training",),
)
THREADS = Preset(
    "threads",
    "Threads",
    "How do eager and compiled scale with the threads of the CPU?",
    threads,
    threads_answer,
    fields=("threads",),
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


def numerics_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell per dtype that compares outputs and gradients with float64."""
    compared = replace(base, numerics="results", measure=False, target="", rival=None)
    return Plan(compared, (Axis("dtype", FLOATING),))


def numerics_answer(question: Question) -> Answer:
    """Return for each dtype whether compiled is as close to float64 as eager."""
    facts = tuple(map(result_fact, ended(question.rows)))
    texts = [f"{result.label}: {_within(result.words)}" for result in facts if result.words]
    return Answer(
        sentence=f"{'; '.join(texts)}." if texts else "",
        columns={"against float64": tuple(row.numerics_words for row in question.rows)},
        facts=facts,
    )


def result_fact(row: SweepRow) -> ResultFact:
    """Return a row's comparison with float64, or with eager if float64 was not computed."""
    same = {
        "same": "results are eager's",
        "other strides": "values are eager's",
        "differs": f"results differ from eager's: {row.results_words}",
    }
    return ResultFact(label(row), row.results, row.numerics_words or same.get(row.results, row.results_words))


def _within(words: str) -> str:
    """Return the text before the first colon, without a final period, with a lowercase first letter."""
    first = words.partition(":")[0].removesuffix(".")
    return f"{first[:1].lower()}{first[1:]}"


NUMERICS = Preset(
    "numerics",
    "Numerics",
    "Are compiled results as close to float64 as eager's?",
    numerics_plan,
    numerics_answer,
)


CACHES = ("cold", "warm")


def calls_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with two cells: a process with empty caches, and a process with filled caches."""
    return Plan(replace(base, measure=True, target="", rival=None), (Axis("caches", CACHES),))


def calls_answer(question: Question) -> Answer:
    """Return the number of calls after which compiling pays off, with cold and with warm caches."""
    done = ended(question.rows)
    facts = {row.at: break_even(row) for row in done}
    return Answer(
        sentence=_calls_sentence(tuple(facts.values()), done),
        notes=_notes(done),
        columns={
            "cost of the first calls": tuple(
                seconds(facts[row.at].cost_s) if row.at in facts else "" for row in question.rows
            ),
            "pays off": tuple(pays_words(facts.get(row.at)) for row in question.rows),
        },
        facts=tuple(facts.values()),
    )


def break_even(row: SweepRow) -> BreakEven:
    """Return a row's break-even, without calls if a time is missing or nothing is clearly saved."""
    cost_s = cost(row)
    if cost_s is None or row.eager_s is None or row.ratio is None or not faster(row) or row.disturbed:
        return BreakEven(label(row), None, cost_s)
    return BreakEven(label(row), calls_to_pay(cost_s, row.eager_s, row.ratio), cost_s)


def cost(row: SweepRow) -> float | None:
    """Return the seconds by which a row's calls exceed the compiled steady state; None if not measured."""
    if row.compiled_s is None or not row.calls:
        return None
    return sum(max(0.0, (call.compiled_s or 0.0) - row.compiled_s) for call in row.calls)


def pays_words(pays: BreakEven | None) -> str:
    """Return the calls after which compiling pays off, in words; empty if it does not measurably pay off."""
    if pays is None or pays.calls is None:
        return ""
    return calls_after(*pays.calls)


def _calls_sentence(facts: tuple[BreakEven, ...], done: tuple[SweepRow, ...]) -> str:
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
    calls_plan,
    calls_answer,
    "cumulative",
    ("caches",),
)
