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
    median of the cells so far; None before there is one.
    """

    state: SweepState
    done: int
    failed: int
    total: int
    now: tuple[tuple[str, ...], ...] = ()
    left_s: float | None = None
    reason: str = ""

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
    return SweepStanding(
        state,
        done,
        len(settled) - done,
        len(rows),
        tuple(row.at for row in going),
        _left_s(settled, going, len(rows) - len(settled)) if alive else None,
        reason,
    )


def _left_s(settled: Sequence[SweepRow], going: Sequence[SweepRow], left: int) -> float | None:
    """As many cells as are left, each as long as half of those so far, less what those that go have taken already."""
    took_s = [row.took_s for row in settled if row.took_s is not None]
    if not took_s:
        return None
    each_s = statistics.median(took_s)
    spent_s = sum(min(each_s, row.took_s or 0.0) for row in going)
    return max(0.0, each_s * left - spent_s) / max(1, len(going))
