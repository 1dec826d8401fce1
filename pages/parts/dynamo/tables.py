"""Tables of the Dynamo pages: compilations, bytecode, symbols, log records, and torch's messages.

Most tables have a choice of rows, and show the selected row in full.
"""

from dataclasses import replace

import streamlit as st

from core.base import words as fmt
from core.report import PiecewiseCompilation
from core.views import artifacts as views
from core.views import vllm
from core.views.blocks import Table
from core.views.compilations import MARKS, BytecodeView, TreeRow
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import SHORT, STATUS, TALL
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.downloads import download
from pages.session.server import cached, theme
from pages.session.shown import RunView, View
from pages.session.tables import compilation_by_row, framed, picks, search_field
from pages.session.url import pressed, state_of

ROW_PX, HEAD_PX = 31, 36


def compilation_table(table: Table[TreeRow]) -> None:
    """Draw a table with a row per compilation, children below their parent; a click selects one."""
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
            line = url.selected() or f"l:{bytecode.compilation.frame.line}"
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
BESIDE = "records-beside"
FIRST = ("graph_breaks", "recompiles", "guards")


def open_artifacts(view: RunView) -> views.ArtifactsView | None:
    """Return the records of the run's log; None while the log is being written."""
    if view.going:
        return None
    return _artifacts(view.run.id, view.report.log_bytes, view)


@cached("Listing the records")
def _artifacts(run_id: str, log_bytes: int, _view: RunView) -> views.ArtifactsView:
    return views.artifacts_view(_view.run)


def compilation_titles(whole: views.ArtifactsView) -> dict[str, str]:
    """Return compilation → its title in the choice of records."""
    ids = {each: f"[{each}]" for each in whole.compilations}
    return {views.ALL: ALL, **ids, views.OUTSIDE: OUTSIDE}


def kind_titles(of_compilation: views.ArtifactsView) -> dict[str, str]:
    """Return kind → its title in the choice of records, with the number of its records."""
    return {views.ALL: ALL, **{name: f"{name} · {fmt.number(n)}" for name, n in of_compilation.kinds.items()}}


def chosen_records(whole: views.ArtifactsView) -> views.ArtifactsView:
    """Return the view of the records that the visitor chose in the fields."""
    search = picks().text(url.RECORD_SEARCH)
    url.read(url.RECORDS_OF, compilation_titles(whole), views.ALL)
    chosen = replace(whole, search=search, compilation=state_of(url.RECORDS_OF), beside=bool(state_of(BESIDE)))
    url.read(url.KIND, kind_titles(chosen), views.ALL)
    chosen = replace(chosen, kind=state_of(url.KIND))
    return replace(chosen, page=int(state_of(_page_key(chosen), 1)))


def record_fields(whole: views.ArtifactsView, chosen: views.ArtifactsView) -> None:
    """Draw the choice of records."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search_field(url.RECORD_SEARCH, "text in a record …", 260)
        _choice("Compilation", url.RECORDS_OF, compilation_titles(whole), 200)
        _choice("Kind", url.KIND, kind_titles(replace(whole, compilation=chosen.compilation)), 320)
        st.toggle("Events and inputs", key=BESIDE, help=views.BESIDE_HELP)
        if chosen.pages > 1:
            st.number_input("Page", 1, chosen.pages, key=_page_key(chosen), width=120)
    url.write(url.RECORDS_OF, url.KIND)


def _choice(label: str, name: str, titles: dict[str, str], width: int) -> None:
    st.selectbox(label, list(titles), format_func=lambda each: titles[each], key=name, width=width)


def _page_key(chosen: views.ArtifactsView) -> str:
    return f"record-page-{chosen.search}-{chosen.compilation}-{chosen.kind}-{chosen.beside}"


def record_downloads(view: RunView, artifacts: views.ArtifactsView, number: int) -> None:
    """Draw the downloads of a record's payload and header."""
    name = f"{view.run.id}-record-{number}"
    download("Payload", lambda: artifacts.raw(number)[1], f"{name}.txt", key=f"{name}.txt")
    download("Header", lambda: artifacts.raw(number)[0], f"{name}.header.json", key=f"{name}.header.json")


def record_text(artifacts: views.ArtifactsView, number: int, text: str, language: str) -> None:
    """Draw the payload of a record, at the line that the search found."""
    picture = CodePicture(artifacts.index.row(number).kind, language, code_lines(text))
    line = artifacts.line_of(number)
    selected = url.selected() or (f"c:{line}" if line else None)
    url.pick(code_view(picture, key=f"record-{number}-{line or ''}", height=TALL, selected=selected))


def record_logs(view: RunView) -> None:
    """Offer a run of the same job that records selected messages of TORCH_LOGS."""
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
    chosen = st.selectbox("Record", range(len(kinds)), vllm.first_record(piece), format_func=kinds.__getitem__, key=key)
    artifact = piece.artifacts[chosen]
    picture = CodePicture(artifact.kind, "python", code_lines(view.text(artifact.text)))
    url.pick(code_view(picture, key=f"{key}-{chosen}", height=TALL, selected=url.selected()))
