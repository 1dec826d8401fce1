"""The command palette over every page: its entries, and what a choice opens."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages import menu
from pages.components.palette.view import PaletteAim, PaletteChoice, PaletteData, palette, run_entries
from pages.parts.palette.actions import COMPARE, act, actions_group
from pages.parts.palette.entries import pages_group, run_groups, runs_group
from pages.session import url
from pages.session.memory import held
from pages.session.navigate import PAGE, go_to
from pages.session.runs import named_runs, show_run
from pages.session.shown import ShownRun, shown_run
from pages.session.view import RunView

# Pages that show no run: another run is opened on its overview.
WITHOUT_RUN = (menu.NEW_RUN, menu.RUNS, menu.SWEEP)
PARAMETERS = (url.COMPILATION, url.GRAPH, url.SELECT, url.OTHER)


def command_palette() -> None:
    """Draw the palette, and do what was chosen in it just now."""
    here = shown_run()
    chosen = palette(_data(here), key="palette")
    if here is not None:
        _run_entries(here)
    if chosen is not None and chosen.action:
        act(chosen.action, here)
    elif chosen is not None:
        _open(chosen)


def _data(shown: ShownRun | None) -> PaletteData:
    named = named_runs()
    groups = (runs_group(named), actions_group(shown, has_others=len(named) > 1), pages_group())
    return PaletteData(
        shown.run.id if shown is not None else "", groups, {COMPARE: PaletteAim(menu.COMPARE.name, url.OTHER)}
    )


@st.fragment
def _run_entries(shown: ShownRun) -> None:
    run_entries(shown.run.id, lambda: _entries(shown), key="palette-entries")


def _entries(shown: ShownRun) -> Mapping[str, object]:
    """Return the entries of a run; none without a report."""
    if shown.report is None:
        return {"run": shown.run.id, "groups": []}
    return run_groups(shown.run.id, RunView(shown, shown.report))


def _open(chosen: PaletteChoice) -> None:
    """Open the link of an entry; nothing for a page that the menu lacks."""
    page = menu.PAGES.get(chosen.page or held(PAGE, ""))
    if page is None:
        return
    if url.RUN in chosen.query:
        show_run(chosen.query[url.RUN], menu.OVERVIEW if page in WITHOUT_RUN else page)
    go_to(page, url.link(**{name: value for name, value in chosen.query.items() if name in PARAMETERS}))
