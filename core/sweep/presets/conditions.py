"""Single conditions: the dtype, inference or training, the number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.base.machine import Environment
from core.base.words import count, duration_s, ratio
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.preset import Answer, Plan, Preset, Question
from core.sweep.presets.rows import (
    ended,
    interval_words,
    label,
    listed,
    quickest,
    speed_fact,
    speed_words,
)
from core.sweep.row import SweepRow

DTYPES = ("float32", "bfloat16", "float16", "float64")
MOST_THREADS = 64


def dtypes(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell per floating dtype, to which model and inputs are cast."""
    return Plan(_with_measuring(base), (Axis("dtype", DTYPES),))


def trainings(base: CompileJob, environment: Environment) -> Plan:
    """Return two cells: the forward alone, and the forward with its backward."""
    return Plan(_with_measuring(base), (Axis("training", (False, True), ("inference", "training")),))


def threads(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell for each power of two up to the CPUs of this machine, and one for all of them."""
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
    """Return the ratios of inference and training, and the times of forward and backward in the generated code."""
    result = answer(question)
    parts = tuple(
        f"{label(row)}: " + ", ".join(f"{name} {duration_s(part)}" for name, part in row.directions_s.items())
        for row in ended(question.rows)
        if row.directions_s
    )
    notes = (f"In Inductor's wrapper, a call takes: {'; '.join(parts)}.",) if parts else ()
    return replace(result, notes=(*notes, *result.notes))


def threads_answer(question: Question) -> Answer:
    """Return the scaling of both sides from the fewest threads to the most."""
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
    ratios = [f"with {label(row)} {interval_words(row.ratio)}" for row in (fewest, most) if row.ratio is not None]
    return replace(result, sentence=f"{words}; eager over compiled is {', '.join(ratios)}.")


DTYPE = Preset(
    "dtype", "Dtype", "How fast is the model in each floating dtype, and are its results eager's?", dtypes, answer
)
TRAINING = Preset(
    "training",
    "Inference or training",
    "Does compiling pay for the forward alone, and for the forward with its backward?",
    trainings,
    training_answer,
)
THREADS = Preset(
    "threads", "Threads", "How do eager and compiled scale with the threads of the CPU?", threads, threads_answer
)
