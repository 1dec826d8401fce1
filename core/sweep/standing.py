"""Where a sweep stands, by the rows of its table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.sweep.row import SweepRow

SweepState = Literal["going", "stopping", "done", "cancelled", "interrupted", "stopped"]


@dataclass(frozen=True, slots=True)
class SweepStanding:
    """How far a sweep is: cells that are done, that failed, and all.

    It is `cancelled` by a visitor, `interrupted` with the process that went through it, `stopped` for a `reason`; each
    can be resumed. `now` are the cells that are run, and `left_s` is an estimate of the time that is left, by the
    medians of the cells so far for each value of the axis that changes their time most; None before there is one. It is
    a lower bound as long as no cell with the value `untried` is settled.
    """

    state: SweepState
    done: int
    failed: int
    total: int
    now: tuple[tuple[str, ...], ...] = ()
    left_s: float | None = None
    reason: str = ""
    untried: str = ""

    @property
    def live(self) -> bool:
        """Whether a process goes through it."""
        return self.state in ("going", "stopping")


def standing_of(rows: Sequence[SweepRow], alive: bool, to_stop: bool, reason: str = "") -> SweepStanding:
    """Where it stands, with a process that goes through it or without."""
    settled = [row for row in rows if row.settled]
    done = sum(row.state == "done" for row in rows)
    going = [row for row in rows if row.state == "running"]
    state: SweepState = "cancelled" if to_stop else "stopped" if reason else "interrupted"
    if len(settled) == len(rows):
        state = "done"
    if alive:
        state = "stopping" if to_stop else "going"
    left_s, untried = _left(rows, settled, going) if alive else (None, "")
    return SweepStanding(
        state,
        done,
        len(settled) - done,
        len(rows),
        tuple(row.at for row in going),
        left_s,
        reason,
        untried,
    )


def _left(rows: Sequence[SweepRow], settled: Sequence[SweepRow], going: Sequence[SweepRow]) -> tuple[float | None, str]:
    """Seconds of the cells that are left, less what those that go have taken already; and a value without any time.

    A cell of such a value counts as the slowest value that has one.
    """
    timed = [row for row in settled if row.took_s is not None]
    if not timed:
        return None, ""
    axis, medians = _slowest_axis(timed)
    most_s = max(medians.values())
    left = [row for row in rows if not row.settled]
    each_s = [medians.get(row.at[axis], most_s) for row in left]
    spent_s = sum(min(medians.get(row.at[axis], most_s), row.took_s or 0.0) for row in going)
    untried = next((row.at[axis] for row in left if row.at[axis] not in medians), "") if len(medians) > 1 else ""
    return max(0.0, sum(each_s) - spent_s) / max(1, len(going)), untried


def _slowest_axis(timed: Sequence[SweepRow]) -> tuple[int, dict[str, float]]:
    """The axis whose values differ most in time, and the median seconds of each of its values."""
    by_axis = [_medians(timed, axis) for axis in range(len(timed[0].at))]
    return max(enumerate(by_axis), key=lambda item: max(item[1].values()) - min(item[1].values()))


def _medians(timed: Sequence[SweepRow], axis: int) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in timed:
        found.setdefault(row.at[axis], []).append(row.took_s or 0.0)
    return {value: statistics.median(taken) for value, taken in found.items()}
