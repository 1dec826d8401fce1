"""State and progress of a sweep, from the rows of its table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.sweep.row import SweepRow

SweepState = Literal["going", "stopping", "done", "cancelled", "interrupted", "stopped"]


@dataclass(frozen=True, slots=True)
class SweepStanding:
    """Progress of a sweep: numbers of done, failed and all cells.

    It is `cancelled` by a visitor, `interrupted` with its process, `stopped` for a `reason`; each can be resumed. `now`
    are the running cells. `left_s` is an estimate of the remaining seconds, by the medians of the finished cells for
    each value of the axis with the largest effect on time; None without an estimate. It is a lower bound as long as no
    cell with the value `untried` has finished.
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
        """True if a process executes it."""
        return self.state in ("going", "stopping")


def standing_of(rows: Sequence[SweepRow], alive: bool, to_stop: bool, reason: str = "") -> SweepStanding:
    """Return the state and progress; `alive` is True if a process executes the sweep."""
    settled = [row for row in rows if row.settled]
    done = sum(row.state == "done" for row in rows)
    going = [row for row in rows if row.state == "running"]
    state: SweepState = "cancelled" if to_stop else "stopped" if reason else "interrupted"
    if len(settled) == len(rows):
        state = "done"
    if alive:
        state = "stopping" if to_stop else "going"
    left_s, untried = _remaining_time(rows, settled, going) if alive else (None, "")
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


def _remaining_time(
    rows: Sequence[SweepRow], settled: Sequence[SweepRow], going: Sequence[SweepRow]
) -> tuple[float | None, str]:
    """Return the seconds of the remaining cells, less the elapsed time of running cells; and a value without times.

    A cell of such a value counts as the slowest value that has times.
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
    """Return the axis whose values differ most in time, and the median seconds of each of its values."""
    by_axis = [_medians(timed, axis) for axis in range(len(timed[0].at))]
    return max(enumerate(by_axis), key=lambda pair: max(pair[1].values()) - min(pair[1].values()))


def _medians(timed: Sequence[SweepRow], axis: int) -> dict[str, float]:
    seconds_by_value: dict[str, list[float]] = {}
    for row in timed:
        seconds_by_value.setdefault(row.at[axis], []).append(row.took_s or 0.0)
    return {value: statistics.median(seconds) for value, seconds in seconds_by_value.items()}
