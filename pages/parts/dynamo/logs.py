"""The parts of the page Torch's log: the choice of messages, their table, and one message."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.views.logs import LogsView
from pages import menu
from pages.components.code.view import code_view
from pages.look.sizes import SHORT, TALL
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.presses import pressed
from pages.session.shown import RunView
from pages.session.tables import picked, search_field

ALL = "all"
OUTSIDE = "outside of a compilation"
FIRST = ("graph_breaks", "recompiles", "guards")
FEW = 12
WIDE = {"message": st.column_config.TextColumn(width=330), "name": st.column_config.TextColumn(width=120)}


def record_logs(view: RunView) -> None:
    """Offer a run of the same job with some of torch's log; draw nothing if it may not run here."""
    job = job_again(view)
    if job is None:
        return
    names = st.multiselect("Messages", FIRST, FIRST, accept_new_options=True, key="log-names", max_selections=FEW)
    if pressed("Run with these messages", key="run-with-messages", icon=":material/subject:", disabled=not names):
        submit_or_open(replace(job, logs=tuple(names), measure=False))


def choose_messages(logs: LogsView) -> LogsView:
    """Draw the choice of messages; return the view with those that are chosen."""
    search = search_field(url.LOG, "a variable, a reason, a file …", 300)
    name = st.selectbox("Name", [ALL, *logs.names], key="log-name", width=220)
    shown = {ALL: "", **{f"[{each}]" if each else OUTSIDE: each for each in logs.compilations}}
    compilation = st.selectbox("Compilation", list(shown), key="log-compilation", width=200)
    return replace(logs, search=search, name="" if name == ALL else name, compilation=shown[compilation])


def message_table(logs: LogsView) -> int:
    """Draw the messages; return the index of the one that is selected, of the first without a selection."""
    height = TALL if len(logs.shown) > FEW else "auto"
    indices = range(len(logs.shown))
    chosen = picked(pd.DataFrame(logs.rows), indices, "log-table", height=height, column_config=WIDE)
    if logs.left_out:
        st.caption(logs.left_out)
    return chosen or 0


def message_details(view: RunView, logs: LogsView, index: int) -> None:
    """Draw a message in full, with links to its compilation and the user's line that it names."""
    message = logs.details(index)
    st.caption(message.place)
    st.code(message.text, language=None, height=TALL if message.text.count("\n") > FEW else "content")
    if message.compilation:
        with st.container(horizontal=True):
            for page in (menu.COMPILATIONS, menu.FX_GRAPH):
                link = url.link(**{url.COMPILATION: message.compilation})
                st.page_link(page.script, label=page.title, icon=page.icon, query_params=link, width="content")
    picture = user_code(view) if message.line is not None else None
    if picture is not None:
        code_view(picture, key="log-code", height=SHORT, selected=f"l:{message.line}")
