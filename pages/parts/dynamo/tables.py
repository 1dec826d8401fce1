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
from core.views.texts import LogsView
from core.views.vllm import VllmView
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
BYTECODE, PYTHON = "bytecode", "decompiled"


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


def bytecode_listings(view: View, bytecode: BytecodeView) -> None:
    """Draw both listings, next to the user's lines if the log contains their file."""
    picture = user_code(view) if bytecode.in_user_file else None
    columns = st.columns([3, 4, 5] if picture else [4, 5], gap="small")
    if picture is not None:
        with columns[0]:
            line = f"l:{view.compilation.frame.line}"
            code_view(picture, key=f"bytecode-code-{view.compilation.id}", height=TALL, selected=line)
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


def decompiled_python(bytecode: BytecodeView) -> None:
    """Draw the original and the modified code as decompiled Python.

    Also draw a warning about parts that could not be decompiled.
    """
    st.caption(bytecode.python_note)
    if bytecode.not_decompiled:
        st.warning(bytecode.not_decompiled, icon=":material/info:")
    sides = bytecode.python
    if not sides:
        return
    for column, (side, text) in zip(st.columns(len(sides), gap="small"), sides.items(), strict=True):
        with column:
            lines = code_lines(text, prefix=f"p{side[0]}")
            code_view(CodePicture(side, "python", lines), key=f"bytecode-python-{side}", height=TALL)


def bytecode_links(bytecode: BytecodeView) -> None:
    """Draw links to the graph and the resume functions that the modified code calls."""
    with st.container(horizontal=True):
        if bytecode.calls_graph:
            st.page_link(
                menu.FX_GRAPH.script,
                label="The graph",
                icon=menu.FX_GRAPH.icon,
                query_params=url.link(),
                width="content",
            )
        for compile_id, label in bytecode.resume_links.items():
            st.page_link(
                menu.BYTECODE.script,
                label=label,
                icon=menu.BYTECODE.icon,
                query_params=url.link(**{url.COMPILATION: compile_id}),
                width="content",
            )


def choose_form(bytecode: BytecodeView) -> str:
    """Draw the choice of bytecode or decompiled Python, and return it; without Python, return bytecode."""
    if bytecode.without_python:
        st.caption(bytecode.without_python)
        return BYTECODE
    url.read(url.LISTING, [BYTECODE, PYTHON], BYTECODE)
    shown = st.segmented_control("Show as", [BYTECODE, PYTHON], key=url.LISTING, label_visibility="collapsed")
    url.write(url.LISTING)
    return shown or BYTECODE


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


def choose_messages(logs: LogsView) -> LogsView:
    """Draw the choice of messages; return the view of the chosen messages."""
    search = search_field(url.LOG, "a variable, a reason, a file …", 300)
    name = st.selectbox("Name", [ALL, *logs.names], key="log-name", width=220)
    shown = {ALL: "", **{f"[{each}]" if each else OUTSIDE: each for each in logs.compilations}}
    compilation = st.selectbox("Compilation", list(shown), key="log-compilation", width=200)
    return replace(logs, search=search, name="" if name == ALL else name, compilation=shown[compilation])


def message_table(logs: LogsView) -> int:
    """Draw the messages; return the index of the selected message, by default the first."""
    height = TALL if len(logs.shown) > FEW else "auto"
    indices = range(len(logs.shown))
    chosen = picked(data_frame(logs.rows), indices, "log-table", height=height, column_config=MESSAGE_COLUMNS)
    if logs.left_out:
        st.caption(logs.left_out)
    return chosen or 0


def message_details(view: RunView, logs: LogsView, index: int) -> None:
    """Draw a message in full, links to its compilation, and the user's line that the message names."""
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


PIECE_COLUMNS = {"tokens": st.column_config.TextColumn(width=120), "equal to": st.column_config.TextColumn(width=90)}
OUTPUT_CODE = "inductor_output_code"
PIECE_FORMS = {"ops": fmt.number, "seconds": fmt.duration_s, "records": fmt.number}


def choose_call(vllm: VllmView) -> VllmView:
    """Draw the choice of a call if there is more than one; return the view of the chosen call."""
    labels = {str(number): label for number, label in enumerate(vllm.labels, 1)}
    if len(labels) == 1:
        return vllm
    url.read(url.VLLM_CALL, labels, "1")
    chosen = st.selectbox("Call", list(labels), format_func=labels.__getitem__, key=url.VLLM_CALL, width=380)
    url.write(url.VLLM_CALL)
    return replace(vllm, place=int(chosen) - 1)


def piece_table(vllm: VllmView) -> PiecewiseCompilation | None:
    """Draw the piecewise compilations of the call; return the selected one, the first by default."""
    if not vllm.compilations:
        st.write(vllm.no_compilation)
        return None
    table = in_words(data_frame(vllm.rows), PIECE_FORMS)
    chosen = picked(table, vllm.compilations, f"pieces-{vllm.place}", column_config=PIECE_COLUMNS, height=TALL)
    return chosen or vllm.compilations[0]


def piece_details(view: RunView, vllm: VllmView, piece: PiecewiseCompilation) -> None:
    """Draw one of torch's records within a piecewise compilation, with a choice of the record."""
    if not piece.artifacts:
        st.write(vllm.no_record_of(piece))
        return
    kinds = [artifact.kind for artifact in piece.artifacts]
    key = f"piece-{vllm.place}-{piece.subgraph}-{piece.first}"
    first = kinds.index(OUTPUT_CODE) if OUTPUT_CODE in kinds else 0
    place = st.selectbox("Record", range(len(kinds)), first, format_func=kinds.__getitem__, key=key)
    artifact = piece.artifacts[place]
    picture = CodePicture(artifact.kind, "python", code_lines(view.text(artifact.text)))
    url.select(code_view(picture, key=f"{key}-{place}", height=TALL, selected=url.selected()))


def configuration(vllm: VllmView) -> None:
    """Draw the settings that calls share, those that differ, and the records that the log has."""
    settings, records = st.columns([3, 2], gap="medium")
    with settings:
        for caption, rows in vllm.config_tables:
            st.caption(caption)
            st.dataframe(rows)
    with records:
        st.caption("Records")
        st.dataframe(vllm.record_rows)
