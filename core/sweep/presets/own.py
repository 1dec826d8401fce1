"""Custom axes: statements that apply to any table."""

from __future__ import annotations

from core.base.machine import Environment
from core.base.words import agree, count, duration_s, number
from core.job import CompileJob
from core.sweep.presets.preset import (
    Answer,
    Plan,
    Preset,
    Question,
    broken,
    ended,
    faster,
    label,
    listed,
    quickest,
    slower,
    speed_fact,
    speed_words,
)


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return no axis, since the user defines them."""
    return Plan(base, ())


def answer(question: Question) -> Answer:
    """Return the cells in which compiled is faster or slower, and the fastest cell."""
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
