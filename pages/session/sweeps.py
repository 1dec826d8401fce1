"""Sweeps that are listed for this visitor, and the sweep in the URL with its answer."""

from __future__ import annotations

import time
from dataclasses import dataclass

from core import CompileboardError, StoreError, Sweep, SweepStanding
from core.views import progress
from core.views.sweep import SweepView
from pages import menu
from pages.gate.visitor import who
from pages.session import server, url
from pages.session.navigate import go_to

MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class ShownSweep:
    """A sweep as it was at `read_s` of the monotonic clock.

    `changed_ns` is the last time that a cell started or ended.
    """

    view: SweepView
    changed_ns: int
    read_s: float

    @property
    def standing(self) -> SweepStanding:
        """Its state and progress."""
        return self.view.standing

    @property
    def left_s(self) -> float | None:
        """The estimated seconds left, minus the time since the estimate; None if there is no estimate."""
        left_s = self.standing.left_s
        return None if left_s is None else max(0.0, left_s - (time.monotonic() - self.read_s))

    @property
    def waits(self) -> str:
        """The reason why its first queued cell has not started; empty if none is queued."""
        queued = next((row.run for row in self.view.rows if row.state == "queued"), None)
        if queued is None:
            return ""
        try:
            runner = server.runner()
            return progress.waiting_words(runner.waits_for(runner.store.open(queued)))
        except StoreError:
            return ""

    @property
    def moment(self) -> str:
        """A value that changes with the data of its charts."""
        settled = [row.run for row in self.view.rows if row.settled]
        return " ".join([self.view.sweep.id, *settled])

    @property
    def own(self) -> bool:
        """True if this visitor may change it."""
        return who().owns(self.view.sweep.by)


def shown_sweep() -> str | None:
    """Return the id of the sweep in the URL; None if there is none."""
    return url.asked(url.SWEEP)


def open_sweep(sweep_id: str) -> ShownSweep | None:
    """Return the current sweep by its id; None if there is none that this visitor may open, or it cannot be read."""
    runner = server.sweeps()
    try:
        changed_ns = runner.store.changed_ns(sweep_id)
        sweep = runner.store.open(sweep_id)
        if not who().may_open(sweep, sweep.by):
            return None
        rows = runner.rows(sweep)
        standing = runner.standing(sweep, rows)
        name = runner.store.name(sweep_id) or sweep.title
        view = SweepView(sweep, rows, standing, name, server.environment)
        return ShownSweep(view, changed_ns, time.monotonic())
    except CompileboardError:
        return None


def is_as_shown(shown: ShownSweep) -> bool:
    """Return True if a sweep has not changed since it was drawn, except for the elapsed time.

    Does not read its rows: reading 200 of them would disturb the running measurement.
    """
    runner = server.sweeps()
    try:
        changed = runner.store.changed_ns(shown.view.sweep.id) != shown.changed_ns
    except StoreError:
        return False
    live = [row for row in shown.view.rows if row.run and not row.settled]
    return (
        not changed
        and runner.is_executing(shown.view.sweep) == shown.standing.live
        and all(_state(row.run) == row.state for row in live)
    )


def _state(run_id: str) -> str:
    """Return the state of a run; empty if the run is gone."""
    try:
        return server.runner().store.open(run_id).standing().state
    except StoreError:
        return ""


def listed_sweeps() -> list[Sweep]:
    """Return the sweeps that are listed for this visitor, newest first."""
    visitor = who()
    return [sweep for sweep in server.sweeps().store.list() if visitor.sees(sweep, sweep.by)][:MOST_LISTED]


def show_sweep(sweep_id: str) -> None:
    """Go to the page of a sweep."""
    go_to(menu.SWEEP, {url.SWEEP: sweep_id})
