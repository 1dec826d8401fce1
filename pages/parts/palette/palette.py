"""Command palette on every page: actions, pages, runs, and entries of the shown run.

An action is for the shown run or the window. The shown run has entries for its compilations, kernels and nodes.
`command_palette` draws the palette and executes a choice.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import msgspec
import streamlit as st

from core import measured_again
from core.report import Report
from core.views import runs as lists
from core.views.palette import PaletteView, RunEntryGroup
from pages import menu
from pages.components.keys.view import all_keys
from pages.components.palette.view import (
    PaletteAim,
    PaletteChoice,
    PaletteData,
    PaletteEntry,
    PaletteGroup,
    RunEntriesData,
    palette,
    run_entries,
)
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.run.submit import job_again, job_to_edit, submit
from pages.session import url
from pages.session.downloads import log_download, report_download
from pages.session.runs import show_run
from pages.session.server import cached
from pages.session.shown import RunView, ShownRun
from pages.session.url import PAGE, go_to, press, state_of, taken

# Pages that show no run; a run chosen there opens on its overview.
WITHOUT_RUN = (menu.NEW_RUN, menu.RUNS, menu.SWEEP)
PARAMETERS = (url.COMPILATION, url.GRAPH, url.SELECT, url.OF, url.OTHER)
COMPARE, EDIT, MEASURE, DOWNLOAD, KEYS = "compare", "edit", "measure", "download", "keys"
# Actions that the browser handles without the server.
PRESENT, FULL = "present", "full"
OF_A_RUN = {
    COMPARE: PaletteEntry(COMPARE, "Compare with…", "choose the other run"),
    EDIT: PaletteEntry(EDIT, "Edit and run again", "the form with the options of this run"),
    MEASURE: PaletteEntry(MEASURE, "Measure again", "compile the same job again, as a run of its own"),
    DOWNLOAD: PaletteEntry(DOWNLOAD, "Download…", "the report or the log of this run"),
}
ANYWHERE = (
    PaletteEntry(PRESENT, "Present", "larger type, no menu · P"),
    PaletteEntry(FULL, "Full screen", "the drawing alone · F"),
    PaletteEntry(KEYS, "Keys", "help on all keys · ?"),
)
PALETTE = "palette"
MOST_RUNS = 50  #: runs in the command palette
MOST_COMPILATIONS = 200  #: compilations in the command palette
MOST_KERNELS = 500  #: kernels in the command palette
MOST_NODES = 2_000  #: nodes in the command palette, of the largest graphs


def command_palette(shown: ShownRun | None, runs: Sequence[lists.ListedRun]) -> None:
    """Draw the palette of the shown run and the listed runs, and execute a new choice."""
    palette(_data(shown, runs), key=PALETTE, on_choose=partial(press, PALETTE))
    chosen: PaletteChoice | None = taken(PALETTE)
    # Its place is reserved, so that the page below, and the focus in it, stay when the first run is shown.
    with st.container():
        if shown is not None:
            _run_entries(shown)
    if chosen is not None and chosen.action:
        act(chosen.action, shown)
    elif chosen is not None:
        _open(chosen)


def _data(shown: ShownRun | None, runs: Sequence[lists.ListedRun]) -> PaletteData:
    groups = (runs_group(runs), actions_group(shown, has_others=len(runs) > 1), pages_group())
    return PaletteData(
        shown.run.id if shown is not None else "", groups, {COMPARE: PaletteAim(menu.COMPARE.name, url.OTHER)}
    )


@st.fragment
def _run_entries(shown: ShownRun) -> None:
    run_entries(shown.run.id, lambda: _entries(shown), key="palette-entries")


def _entries(shown: ShownRun) -> Mapping[str, object]:
    """Return the entries of a run; empty without a report."""
    if shown.report is None:
        return {"run": shown.run.id, "groups": []}
    return run_groups(shown.run.id, RunView(shown, shown.report))


def _open(chosen: PaletteChoice) -> None:
    """Open the link of an entry; do nothing for a page that is not in the menu."""
    page = menu.PAGES.get(chosen.page or state_of(PAGE, ""))
    if page is None:
        return
    if url.RUN in chosen.query:
        show_run(chosen.query[url.RUN], menu.OVERVIEW if page in WITHOUT_RUN else page)
    go_to(page, url.link(**{name: value for name, value in chosen.query.items() if name in PARAMETERS}))


def actions_group(shown: ShownRun | None, *, has_others: bool) -> PaletteGroup:
    """Return the actions that are possible now; `has_others` is True if there are runs to compare with."""
    entries = [OF_A_RUN[name] for name in _of_run(shown, has_others)] if shown is not None else []
    return PaletteGroup("Action", "Actions", (*entries, *ANYWHERE))


def _of_run(shown: ShownRun, has_others: bool) -> list[str]:
    recorded = shown.report is not None and not shown.is_no_trace
    job = job_again(shown)
    possible = {
        COMPARE: has_others and recorded,
        EDIT: job_to_edit(shown) is not None,
        MEASURE: job is not None and not job.target and not shown.going,
        DOWNLOAD: recorded and not shown.going,
    }
    return [name for name, is_possible in possible.items() if is_possible]


def act(action: str, shown: ShownRun | None) -> None:
    """Start an action; do nothing if it is not possible now."""
    if action == KEYS:
        all_keys()
    if shown is None or action not in _of_run(shown, has_others=False):
        return
    if action == EDIT:
        go_to(menu.NEW_RUN, {url.AGAIN: shown.run.id})
    if action == MEASURE:
        submit(measured_again(job_again(shown)))
    if action == DOWNLOAD:
        _downloads(shown)


@st.dialog("Download")
def _downloads(shown: ShownRun) -> None:
    st.write(PaletteView.download_note)
    with st.container(horizontal=True):
        report_download(shown.run, key="palette-report")
        log_download(shown.run, key="palette-log")


@cache
def pages_group() -> PaletteGroup:
    """Return the pages of the menu."""
    entries = tuple(PaletteEntry(page.name, page.title, page.section) for page in menu.PAGES.values())
    return PaletteGroup("Page", "Pages", entries, PaletteAim("", ""))


def runs_group(named: Sequence[lists.ListedRun]) -> PaletteGroup:
    """Return the newest runs; each opens on the current page."""
    entries = tuple(
        PaletteEntry(listed.id, one_line(listed.title, LONGEST_NAME), one_line(listed.detail, LONGEST_LINE))
        for listed in named[:MOST_RUNS]
    )
    return PaletteGroup("Run", "Runs", entries, PaletteAim("", url.RUN), left_out=len(named) - len(entries))


@cached()
def run_groups(run_id: str, _view: RunView) -> Mapping[str, Any]:
    """Return the entries of a run with a report: RunEntriesData as built-in Python types."""
    report = _view.report
    nodes = [] if _view.going else _node_groups(_view)
    groups = (*_compilation_groups(report), *_kernel_groups(report), *nodes)
    return dict(msgspec.to_builtins(RunEntriesData(run_id, groups)))


def _compilation_groups(report: Report) -> list[PaletteGroup]:
    aim = PaletteAim(menu.COMPILATIONS.name, url.COMPILATION)
    groups = PaletteView(report).compilations(MOST_COMPILATIONS)
    return [_group("Compilation", group, aim) for group in groups]


def _kernel_groups(report: Report) -> list[PaletteGroup]:
    groups = PaletteView(report).kernels(MOST_KERNELS)
    return [_group("Kernel", group, _select_in(menu.KERNELS, group)) for group in groups]


def _node_groups(view: RunView) -> list[PaletteGroup]:
    groups = PaletteView(view.report).nodes(MOST_NODES, lambda compilation, graph: view.of(compilation).nodes(graph))
    return [_group("Node", group, _select_in(menu.FX_GRAPH, group)) for group in groups]


def _select_in(page: menu.Page, group: RunEntryGroup) -> PaletteAim:
    """Return the link that selects an entry of a group on a page."""
    graph = {url.GRAPH: group.graph} if group.graph else {}
    return PaletteAim(page.name, url.SELECT, {url.COMPILATION: group.compilation, **graph})


def _group(kind: str, group: RunEntryGroup, aim: PaletteAim) -> PaletteGroup:
    entries = tuple(PaletteEntry(entry.id, entry.label, entry.detail) for entry in group.entries)
    return PaletteGroup(kind, f"{kind}s", entries, aim, group.detail, group.left_out)
