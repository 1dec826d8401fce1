"""Runs: all that is stored, to open, download or delete."""

import time

import pandas as pd
import streamlit as st

from core import MOST_NAME_CHARS, Run, Status
from core import words as fmt
from pages import menu
from pages.gate.visitor import ANOTHERS, who
from pages.look.sizes import TALL
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, one_line, plain
from pages.parts.run.usage import what_is_used
from pages.session import doors, url
from pages.session.attempt import attempt, toasted
from pages.session.downloads import log_download, report_download
from pages.session.memory import held
from pages.session.runs import called, listed_runs, made_for, show_run
from pages.session.tables import picked_all

st.title("Runs", anchor=False)
runs: list[tuple[Run, Status]] = listed_runs()
what_is_used()
if not runs:
    st.write("Every run and every opened log is kept here.")
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)
    st.stop()

wanted = st.text_input(
    "Filter", key=url.FILTER, bind="query-params", placeholder="name or state", label_visibility="collapsed"
)
kept = [
    (run, status)
    for run, status in runs
    if wanted.lower() in " ".join([called(run, status), *made_for(run), status.state, run.id]).lower()
]
now = time.time()
table = pd.DataFrame(
    [
        {
            "run": one_line(called(run, status), LONGEST_NAME),
            "made for": one_line(", ".join(made_for(run)), LONGEST_NAME),
            "state": status.state,
            "kind": "opened log" if status.kind == "log" else "run",
            "when": fmt.ago(status.created_s, now),
            "took": fmt.duration_s(status.ended_s - status.started_s) if status.ended_s and status.started_s else "",
            "memory": fmt.bytes_(status.peak_memory_bytes) if status.peak_memory_bytes else "",
            "id": run.id,
        }
        for run, status in kept
    ],
    columns=["run", "made for", "state", "kind", "when", "took", "memory", "id"],
)
opened, picked = picked_all(table, kept, "runs-table", height=TALL)
if opened is not None:
    show_run(opened[0].id)
if not picked:
    st.caption("A click opens a run; tick runs to download or delete them.")
    st.stop()

run, status = picked[0]
if len(picked) == 1 and status.state == "damaged":
    st.error(plain(status.reason, LONGEST_TEXT), icon=":material/error:")
if len(picked) == 1 and who().owns(status.by):
    st.text_input(
        "Name",
        run.name(),
        key=f"name-{run.id}",
        placeholder=status.title,
        max_chars=MOST_NAME_CHARS,
        width=430,
        on_change=lambda: attempt(lambda: doors.rename(run, held(f"name-{run.id}")), toasted),
    )
with st.container(horizontal=True):
    if len(picked) == 1:
        if st.button("Open", type="primary", icon=":material/open_in_new:"):
            show_run(run.id)
        log_download(run)
        if status.state != "damaged":
            report_download(run)
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
        if for_good and attempt(lambda: doors.delete(*deletable)) is not None:
            st.rerun()
