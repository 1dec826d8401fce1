"""The sweeps that this visitor is shown, the one that the URL names, and what its rows say."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core import CompileboardError, StoreError, Sweep
from core.sweep import SweepRow, SweepStanding
from core.sweep.presets import Answer, Question, answer
from pages import menu
from pages.gate.visitor import who
from pages.session import server, url

MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class ShownSweep:
    """A sweep with the rows of its table and where it stands, as both are now."""

    sweep: Sweep
    rows: tuple[SweepRow, ...]
    standing: SweepStanding

    @property
    def answer(self) -> Answer:
        """What its rows say to its question."""
        return answer(Question(self.sweep, self.rows, server.environment()))

    @property
    def name(self) -> str:
        """What its owner calls it, else its title."""
        return server.sweeps().store.name(self.sweep.id) or self.sweep.title

    @property
    def moment(self) -> str:
        """Changes with what its pictures show."""
        settled = [row.run for row in self.rows if row.settled]
        return " ".join([self.sweep.id, *settled])

    @property
    def own(self) -> bool:
        """Whether this visitor may change it."""
        return who().owns(self.sweep.by)


def shown_sweep() -> str | None:
    """The id of the sweep that the URL names; None where it names none."""
    return url.asked(url.SWEEP)


def open_sweep(sweep_id: str) -> ShownSweep | None:
    """A sweep by its id as it is now; None where there is none, or it cannot be read."""
    runner = server.sweeps()
    try:
        sweep = runner.store.open(sweep_id)
        rows = runner.rows(sweep)
        return ShownSweep(sweep, rows, runner.standing(sweep, rows))
    except (StoreError, CompileboardError):
        return None


def listed_sweeps() -> list[Sweep]:
    """The sweeps that this visitor is shown, newest first."""
    visitor = who()
    return [sweep for sweep in server.sweeps().store.list() if visitor.sees(sweep.by)][:MOST_LISTED]


def show_sweep(sweep_id: str) -> None:
    """Go to the page of a sweep."""
    st.switch_page(menu.SWEEP.script, query_params={url.SWEEP: sweep_id})
