"""Tables of the Dynamo pages: compilations, bytecode, symbols, log records, and torch's messages.

Most tables have a choice of rows, and show the selected row in full.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from core.base import words as fmt
from core.report import PiecewiseCompilation
from core.views import artifacts as views
from core.views.blocks import Table
from core.views.compilations import MARKS, BytecodeView, TreeRow
from core.views.vllm import first_record
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import SHORT, STATUS, TALL
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.actions import attempt
from pages.session.server import cached, theme
from pages.session.shown import RunView, View
from pages.session.tables import compilation_by_row, data_frame, framed, in_words, picked, search_field
from pages.session.url import pressed

ROW_PX, HEAD_PX = 31, 36


def compilation_table(table: Table[TreeRow]) -> None:
    """Draw a table with a row per compilation, children below their parent; a click selects a compilation.

    Each number is drawn as a bar; the largest number of a column has the full length.
    """
    styled, settings = framed(table)
    for column in table.shown:
        if column.is_number:
            numbers = "%.3g s" if column.unit == fmt.duration_s else "%d"
            most = float(max(filter(None, map(column.value, table.rows)))) or 1.0
            settings[column.name] = st.column_config.ProgressColumn(
                width=column.width, format=numbers, min_value=0, max_value=most, help=column.help
            )
    settings["function"] = {**settings["function"], "pinned": True}
    colours = {mark: STATUS[tone].dark if theme() == "dark" else STATUS[tone].light for tone, mark in MARKS.items()}
    if hasattr(styled, "map"):
        styled = styled.map(
            lambda text: f"color: {colours[text[:2]]}" if text[:2] in colours else "", subset=["status"]
        )
    height = min(TALL, HEAD_PX + ROW_PX * len(table.rows))
    ids = [entry.id for _, entry in table.rows]
    compilation_by_row(styled, ids, table.name, width="stretch", height=height, column_config=settings)


def bytecode_listings(view: RunView, bytecode: BytecodeView) -> None:
    """Draw both listings, next to the user's lines if the log contains their file."""
    picture = user_code(view) if bytecode.in_user_file else None
    columns = st.columns([3, 4, 5] if picture else [4, 5], gap="small")
    if picture is not None:
        with columns[0]:
            line = f"l:{bytecode.compilation.frame.line}"
            code_view(picture, key=f"bytecode-code-{bytecode.compilation.id}", height=TALL, selected=line)
    with columns[-2]:
        code_view(_picture("original", bytecode), key="bytecode-original", height=TALL)
    with columns[-1]:
        code_view(_picture("modified", bytecode), key="bytecode-modified", height=TALL)


def _picture(side: str, bytecode: BytecodeView) -> CodePicture:
    listing = bytecode.original_listing if side == "original" else bytecode.modified_listing
    lines = code_lines(
        listing.text,
        prefix=side[0],
        links={number: (f"l:{line}",) for number, line in listing.source_lines.items()},
        marks={number: "ok" if number in listing.calls_graph else "break" for number in listing.notes},
        notes=dict(listing.notes),
    )
    return CodePicture(side, "text", lines)


def decompiled_python(sides: dict[str, str]) -> None:
    """Draw the original and the modified code as decompiled Python."""
    for column, (side, text) in zip(st.columns(len(sides), gap="small"), sides.items(), strict=True):
        with column:
            lines = code_lines(text, prefix=f"p{side[0]}")
            code_view(CodePicture(side, "python", lines), key=f"bytecode-python-{side}", height=TALL)


def try_dynamic(view: View) -> None:
    """Draw the button that runs the job with dynamic sizes, unless it has them or may not run here."""
    job = job_again(view)
    if job is None or job.compile.dynamic:
        return
    if pressed("Try it", key="try-dynamic", icon=":material/play_arrow:"):
        submit_or_open(job.with_settings(dynamic=True))


ALL, OUTSIDE = "all", "outside of a compilation"
FEW = 12
LANGUAGES = {"python": "python", "cpp": "cpp", "json": "json", "text": "text", "bytes": "text"}
RECORD_COLUMNS = {
    "record": st.column_config.NumberColumn(width=70),
    "kind": st.column_config.TextColumn(width=250),
    "compilation": st.column_config.TextColumn(width=80),
    "bytes": st.column_config.NumberColumn(width=70),
}
FIRST = ("graph_breaks", "recompiles", "guards")


def open_artifacts(view: RunView) -> views.ArtifactsView | None:
    """Return the records of the run's log; None while the log is being written."""
    if view.going:
        return None
    return _artifacts(view.run.id, view.report.log_bytes, view)


@cached("Listing the records")
def _artifacts(run_id: str, log_bytes: int, _view: RunView) -> views.ArtifactsView:
    return views.artifacts_view(_view.run)


def choose_records(artifacts: views.ArtifactsView) -> views.ArtifactsView:
    """Draw the choice of records; return the view of the chosen records."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = search_field(url.RECORD_SEARCH, "text in a record …", 260)
        compilations = {
            views.ALL: ALL,
            **{each: f"[{each}]" for each in artifacts.compilations},
            views.OUTSIDE: OUTSIDE,
        }
        compilation = _choice("Compilation", url.RECORDS_OF, compilations, 200)
        of_compilation = replace(artifacts, compilation=compilation)
        kinds = {
            views.ALL: ALL,
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
    """Draw the records; return the number of the selected record.

    The default is the URL's record, otherwise the first record of the table.
    """
    height = TALL if len(artifacts.rows) > FEW else "auto"
    numbers = list(artifacts.shown)
    table = in_words(data_frame(artifacts.rows), {"record": fmt.number, "bytes": fmt.number, "line": fmt.number})
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
    """Draw a record in full: place, header and payload, with downloads of header and payload."""
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
    """Offer a run of the same job that records selected messages of TORCH_LOGS.

    Draw nothing if the job may not run here.
    """
    job = job_again(view)
    if job is None:
        return
    names = st.multiselect("Messages", FIRST, FIRST, accept_new_options=True, key="log-names", max_selections=FEW)
    if pressed("Run with these messages", key="run-with-messages", icon=":material/subject:", disabled=not names):
        submit_or_open(replace(job, logs=tuple(names), measure=False))


def line_of_user(view: RunView, line: int) -> None:
    """Draw the user's file at a line that a message names."""
    picture = user_code(view)
    if picture is not None:
        code_view(picture, key="log-code", height=SHORT, selected=f"l:{line}")


def piece_record(view: RunView, place: int, piece: PiecewiseCompilation) -> None:
    """Draw one of torch's records within a piecewise compilation of the call at `place`, with its choice."""
    kinds = [artifact.kind for artifact in piece.artifacts]
    key = f"piece-{place}-{piece.subgraph}-{piece.first}"
    chosen = st.selectbox("Record", range(len(kinds)), first_record(piece), format_func=kinds.__getitem__, key=key)
    artifact = piece.artifacts[chosen]
    picture = CodePicture(artifact.kind, "python", code_lines(view.text(artifact.text)))
    url.select(code_view(picture, key=f"{key}-{chosen}", height=TALL, selected=url.selected()))
