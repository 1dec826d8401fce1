"""Parts of the pages Artifacts and Torch's log: the choice of records or messages, their table, and one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views import artifacts as views
from core.views.logs import LogsView
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import SHORT, TALL
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.actions import attempt
from pages.session.server import cached
from pages.session.shown import RunView
from pages.session.tables import in_words, picked, search_field
from pages.session.url import pressed

ALL_TITLE, OUTSIDE_TITLE = "all", "outside of a compilation"
FEW = 12
LANGUAGES = {"python": "python", "cpp": "cpp", "json": "json", "text": "text", "bytes": "text"}
RECORD_COLUMNS = {
    "record": st.column_config.NumberColumn(width=70),
    "kind": st.column_config.TextColumn(width=250),
    "compilation": st.column_config.TextColumn(width=80),
    "bytes": st.column_config.NumberColumn(width=70),
}
ALL = "all"
OUTSIDE = "outside of a compilation"
FIRST = ("graph_breaks", "recompiles", "guards")
MESSAGE_COLUMNS = {"message": st.column_config.TextColumn(width=330), "name": st.column_config.TextColumn(width=120)}


def open_artifacts(view: RunView) -> views.ArtifactsView | None:
    """Return the records of the run's log; None while the log is being written."""
    if view.going:
        return None
    return _artifacts(view.run.id, view.report.log_bytes, view)


@cached("Listing the records")
def _artifacts(run_id: str, log_bytes: int, _view: RunView) -> views.ArtifactsView:
    return views.artifacts_view(_view.run)


def choose_records(artifacts: views.ArtifactsView) -> views.ArtifactsView:
    """Draw the choice of records; return the view with those that are chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = search_field(url.RECORD_SEARCH, "text in a record …", 260)
        compilations = {
            views.ALL: ALL_TITLE,
            **{each: f"[{each}]" for each in artifacts.compilations},
            views.OUTSIDE: OUTSIDE_TITLE,
        }
        compilation = _choice("Compilation", url.RECORDS_OF, compilations, 200)
        of_compilation = replace(artifacts, compilation=compilation)
        kinds = {
            views.ALL: ALL_TITLE,
            **{name: f"{name} · {fmt.number(n)}" for name, n in of_compilation.kinds.items()},
        }
        kind = _choice("Kind", url.KIND, kinds, 320)
        beside = st.toggle("Events and inputs", key="records-beside", help=artifacts.beside_help)
        chosen = replace(artifacts, search=search, compilation=compilation, kind=kind, beside=beside)
        if chosen.pages > 1:
            key = f"record-page-{search}-{compilation}-{kind}-{beside}"
            page = st.number_input("Page", 1, chosen.pages, key=key, width=120)
            chosen = replace(chosen, page=int(page))
    return chosen


def _choice(label: str, name: str, titles: dict[str, str], width: int) -> str:
    url.read(name, titles, views.ALL)
    chosen = st.selectbox(label, list(titles), format_func=lambda each: titles[each], key=name, width=width)
    url.write(name)
    return chosen or views.ALL


def record_table(artifacts: views.ArtifactsView) -> int:
    """Draw the records; return the number of the selected one, of the one in the URL, or of the first."""
    height = TALL if len(artifacts.rows) > FEW else "auto"
    numbers = list(artifacts.shown)
    table = in_words(pd.DataFrame(artifacts.rows), {"record": fmt.number, "bytes": fmt.number, "line": fmt.number})
    chosen = picked(table, numbers, "record-table", height=height, column_config=RECORD_COLUMNS)
    if artifacts.note:
        st.caption(artifacts.note)
    asked = url.number(url.RECORD)
    if chosen is None:
        return asked if asked is not None and asked < len(artifacts.index) else numbers[0]
    if chosen != asked:
        url.put(url.RECORD, str(chosen))
        url.select(None)
    return chosen


def record_details(view: RunView, artifacts: views.ArtifactsView, number: int) -> None:
    """Draw a record: where it is, its payload by its form, its header, and its bytes as a file."""
    record = attempt(lambda: artifacts.details(number))
    if record is None:
        return
    st.caption(record.place)
    with st.container(horizontal=True):
        _download("Payload", lambda: artifacts.raw(number)[1], f"{view.run.id}-record-{number}.txt")
        _download("Header", lambda: artifacts.raw(number)[0], f"{view.run.id}-record-{number}.header.json")
        row = artifacts.index.row(number)
        if view.report.compilation(row.compile_id) is not None:
            link = url.link(**{url.COMPILATION: row.compile_id})
            for page in (menu.COMPILATIONS, menu.FX_GRAPH):
                st.page_link(page.script, label=page.title, icon=page.icon, query_params=link, width="content")
    if record.note:
        st.caption(record.note)
    if record.rows:
        st.dataframe(list(record.rows), height=TALL if len(record.rows) > FEW else "auto")
    if record.text:
        picture = CodePicture(row.kind, LANGUAGES[record.form], code_lines(record.text))
        line = artifacts.line_of(number)
        selected = url.selected() or (f"c:{line}" if line else None)
        url.select(code_view(picture, key=f"record-{number}-{line or ''}", height=TALL, selected=selected))
    with st.expander("Header", expanded=not record.text):
        st.code(record.header, language=None, wrap_lines=True)


def _download(label: str, make: Callable[[], bytes], name: str) -> None:
    st.download_button(
        label, make, name, "application/octet-stream", icon=":material/download:", on_click="ignore", key=name
    )


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
    chosen = picked(pd.DataFrame(logs.rows), indices, "log-table", height=height, column_config=MESSAGE_COLUMNS)
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
