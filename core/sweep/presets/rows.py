"""Queries over a preset's rows: finished rows, their speedups, the fastest row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.analysis import Interval
from core.base.words import duration_s, number, ratio
from core.sweep.presets.facts import SpeedFact
from core.sweep.row import SweepRow

FEW = "too few samples to say"
WAITS: tuple[str, ...] = ("waiting", "queued", "running")
STOPPED: tuple[str, ...] = ("cancelled", "interrupted")
# Torch's text below its reason: how to see more of it, and the place in its own code.
ADVICE = re.compile(
    r"\s*(Set TORCHDYNAMO_VERBOSE|You can suppress this exception|from user code:|File \").*", re.DOTALL
)
# Torch's text before the reason of a backend.
RAISED = re.compile(r"^.*?backend='[^']*' raised:\s*", re.DOTALL)
LONGEST_REASON = 240


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
    """Return why a cell failed, in torch's words without its advice on how to see more."""
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
    """Return the speed of a row."""
    return SpeedFact(label(row), row.eager_s, row.compiled_s, row.ratio, row.clear)


def speed_words(row: SweepRow) -> str:
    """Return the speedup of a row in words, as far as its interval supports it; empty if not measured."""
    if row.eager_s is None or row.compiled_s is None:
        return ""
    if row.ratio is None:
        return row.claim or FEW
    if faster(row):
        return f"{interval_words(row.ratio)} faster than eager"
    if slower(row):
        return f"{interval_words(row.ratio.inverse())} slower than eager"
    return f"no difference seen ({number(row.ratio.low)} to {number(row.ratio.high)} times)"


def interval_words(interval: Interval) -> str:
    """Return a ratio with its bounds."""
    return ratio(interval.middle, (interval.low, interval.high))


def quickest(rows: Sequence[SweepRow]) -> SweepRow | None:
    """Return the row with the shortest compiled call; None if another row's quartiles overlap with it."""
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
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
