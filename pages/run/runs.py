"""Runs page: all stored runs, to open, download or delete."""

import streamlit as st

from core import MOST_NAME_CHARS, MOST_NOTE_CHARS, Run, Status
from core.base import words as fmt
from pages import menu
from pages.gate.visitor import ANOTHERS, who
from pages.look.sizes import MAX_LINE_CHARS
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.run.audience import audience_picker
from pages.parts.run.measure import measure_picked
from pages.parts.run.runs_table import runs_table, what_is_used, words_of
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import html_download, log_download, report_download
from pages.session.navigate import go_to
from pages.session.runs import listed_runs, show_run
from pages.session.shown import open_shown
from pages.session.state import held

st.title("Runs", anchor=False)
runs: list[tuple[Run, Status]] = listed_runs()
what_is_used()
if not runs:
    st.write("All runs and opened logs.")
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)
    st.stop()

wanted = st.text_input(
    "Filter",
    key=url.FILTER,
    bind="query-params",
    placeholder="name, note or state",
    max_chars=MAX_LINE_CHARS,
    label_visibility="collapsed",
)
kept = [(run, status) for run, status in runs if wanted.lower() in words_of(run, status).lower()]
opened, picked = runs_table(kept)
if opened is not None:
    show_run(opened[0].id)
if not picked:
    st.caption("Click a name to open the run. Select one run to rename it, two to compare, any to delete.")
    st.stop()

run, status = picked[0]
if len(picked) == 1 and status.state == "damaged":
    st.error(plain(status.reason, LONGEST_TEXT), icon=":material/error:")
if len(picked) == 1 and who().owns(status.by):
    with st.container(horizontal=True):
        st.text_input(
            "Name",
            run.name(),
            key=f"name-{run.id}",
            placeholder=status.title,
            max_chars=MOST_NAME_CHARS,
            width=300,
            on_change=lambda: attempt(lambda: actions.rename(run, held(f"name-{run.id}")), toasted),
        )
        st.text_input(
            "Note",
            run.note(),
            key=f"note-{run.id}",
            placeholder="Note on the run",
            max_chars=MOST_NOTE_CHARS,
            on_change=lambda: attempt(lambda: actions.annotate(run, held(f"note-{run.id}")), toasted),
        )
        audience_picker(run)
with st.container(horizontal=True):
    if len(picked) == 1:
        if st.button("Open", type="primary", icon=":material/open_in_new:"):
            show_run(run.id)
        log_download(run)
        if status.state != "damaged":
            report_download(run)
            html_download(run)
            if (shown := open_shown(run.id)) is not None:
                measure_picked(shown)
    if len(picked) == 2:
        two = {url.RUN: picked[1][0].id, url.OTHER: run.id}
        if st.button("Compare", type="primary", icon=menu.COMPARE.icon):
            go_to(menu.COMPARE, two)
    own = [(item, its_status) for item, its_status in picked if who().owns(its_status.by)]
    deletable = [item for item, its_status in own if not its_status.live]
    with st.popover(
        f"Delete {fmt.count(len(deletable), 'run')}",
        icon=":material/delete:",
        disabled=not deletable,
        help=None if own else ANOTHERS,
    ):
        st.write("Deleted runs cannot be brought back.")
        for_good = st.button("Delete for good", type="primary")
        if for_good and attempt(lambda: actions.delete(*deletable)) is not None:
            st.rerun()
