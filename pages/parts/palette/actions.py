"""The actions of the command palette: those that pages offer as buttons, for the shown run and for the window."""

from __future__ import annotations

import streamlit as st

from core import measured_again
from pages import menu
from pages.components.keys.view import all_keys
from pages.components.palette.view import PaletteEntry, PaletteGroup
from pages.parts.run.submit import job_again, job_to_change, submit
from pages.session import url
from pages.session.downloads import log_download, report_download
from pages.session.navigate import go_to
from pages.session.shown import ShownRun

COMPARE, EDIT, MEASURE, DOWNLOAD, KEYS = "compare", "edit", "measure", "download", "keys"
# The browser alone handles these.
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


def actions_group(shown: ShownRun | None, *, has_others: bool) -> PaletteGroup:
    """Return the actions that are possible now; `has_others` is True if there are runs to compare with."""
    entries = [OF_A_RUN[name] for name in _of_run(shown, has_others)] if shown is not None else []
    return PaletteGroup("Action", "Actions", (*entries, *ANYWHERE))


def _of_run(shown: ShownRun, has_others: bool) -> list[str]:
    recorded = shown.report is not None and not shown.is_no_trace
    job = job_again(shown)
    possible = {
        COMPARE: has_others and recorded,
        EDIT: job_to_change(shown) is not None,
        MEASURE: job is not None and not job.target and not shown.going,
        DOWNLOAD: recorded and not shown.going,
    }
    return [name for name, is_possible in possible.items() if is_possible]


def act(action: str, shown: ShownRun | None) -> None:
    """Start an action; nothing for one that is not possible now."""
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
    st.write("The report is JSON; the log is what `TORCH_TRACE` recorded, for tlparse.")
    with st.container(horizontal=True):
        report_download(shown.run, key="palette-report")
        log_download(shown.run, key="palette-log")
