"""Batch size, or any other number: the sizes at which compiled is faster than eager, and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.base.machine import Environment
from core.base.words import duration_s, exact, share
from core.job import BATCH, CompileJob
from core.sweep.model import Axis
from core.sweep.presets.facts import CallParts, Crossover
from core.sweep.presets.preset import Answer, Plan, Preset, Question
from core.sweep.presets.rows import ended, faster, label, listed, slower
from core.sweep.row import SweepRow

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
NAMES = {BATCH: "batch"}
OUTSIDE = "outside"
FITTING = 1.1
PARTS = {
    OUTSIDE: "Dynamo's and autograd's runtime",
    "cold caches": "kernels' colder caches",
    "beside eager": "eager's traces in the caches",
}


def plan(base: CompileJob, here: Environment) -> Plan:
    """Return a cell for each power of two, with the model's own calls at that batch size."""
    return Plan(replace(base, sizes={}, measure=True, target="", rival=None), (Axis(BATCH, SIZES),))


def answer(asked: Question) -> Answer:
    """Return the sizes between which compiled becomes faster, and the parts of the smallest compiled call."""
    field = asked.sweep.axes[0].field
    done = ended(asked.rows)
    found = crossover(field, done)
    parts = call_parts(done)
    return Answer(
        sentence=sentence(found, done) if found is not None else "",
        notes=_parts_notes(found, parts),
        facts=(*([found] if found else []), *parts),
    )


def value(row: SweepRow) -> float:
    """Return the number of a row's axis."""
    return float(row.at[0])


def crossover(field: str, rows: Sequence[SweepRow]) -> Crossover | None:
    """Return the size from which compiled is always faster among measured sizes; None without measurements."""
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


def sentence(found: Crossover, rows: Sequence[SweepRow]) -> str:
    """Return the crossover in words, as an interval between two measured sizes."""
    name = NAMES.get(found.field, f"`{found.field}`")
    values = [value(row) for row in rows if row.ratio is not None]
    low, high = _whole(min(values)), _whole(max(values))
    before = [_whole(value(row)) for row in rows if faster(row) and found.slow is not None and value(row) < found.slow]
    if found.fast is None and found.back:
        words = f"Compiled is faster at {listed(before)}, and not at the largest {name} of {high}"
    elif found.fast is None:
        words = f"At no {name} from {low} to {high} is compiled seen to be faster than eager"
    elif found.slow is None:
        words = f"Compiled is faster than eager at every {name} from {low} to {high}"
    else:
        words = f"Compiled is faster from a {name} between {_whole(found.slow)} and {_whole(found.fast)} on"
        words += f", and at {listed(before)}" if before else ""
    lost = [_whole(value(row)) for row in rows if slower(row)]
    return words + (f"; slower at {listed(lost)}." if lost else ".")


def call_parts(rows: Sequence[SweepRow]) -> tuple[CallParts, ...]:
    """Return the parts of compiled calls by size, if the machine was quiet.

    The parts are timed one after another; parts that sum to more than the whole call are left out.
    """
    timed = [row for row in sorted(rows, key=value) if row.compiled_s and row.parts_s and not row.disturbed]
    parts = (CallParts(label(row), row.compiled_s or 0.0, _parts(row)) for row in timed)
    return tuple(one for one in parts if sum(one.parts_s.values()) <= FITTING * one.compiled_s)


def _parts(row: SweepRow) -> dict[str, float]:
    """Return the measured parts, with the guards separate from the rest outside of the wrapper."""
    outside_s = row.parts_s.get(OUTSIDE, 0.0)
    guards_s = min(outside_s, (row.guards_us or 0.0) / 1e6)
    found = {**row.parts_s, "guards": guards_s, OUTSIDE: outside_s - guards_s}
    return {PARTS.get(name, name): seconds for name, seconds in found.items() if seconds > 0}


def _parts_notes(found: Crossover | None, parts: Sequence[CallParts]) -> tuple[str, ...]:
    """Return why small sizes gain least: parts of a call that do not grow with the size."""
    if found is None or not parts:
        return ()
    name = NAMES.get(found.field, f"`{found.field}`")
    ends = [parts[0], *([parts[-1]] if len(parts) > 1 else [])]
    told = [f"at {name} {one.label}, {parts_words(one)}" for one in ends]
    return (f"What a compiled call consists of: {'; '.join(told)}.",)


def parts_words(found: CallParts) -> str:
    """Return the parts of one compiled call with their shares, separately measured parts first."""
    shares = [f"{name} {duration_s(s)} ({share(s, found.compiled_s)})" for name, s in found.parts_s.items()]
    return f"{', '.join(shares)} of {duration_s(found.compiled_s)}"


def _whole(number: float) -> str:
    return exact(int(number)) if number == int(number) else exact(number)


BATCH_SIZE = Preset(
    "batch",
    "Batch size",
    "From which batch size on is compiled faster than eager, and why not before?",
    plan,
    answer,
    "lines",
)
