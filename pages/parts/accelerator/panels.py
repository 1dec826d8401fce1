"""Steps of the Accelerator page, one shown at a time: calls, partitioned graph, program file.

Calls: calls across the ABI, torch's fallbacks, and the seconds of each build stage.
Graph: segments in colours, ops that stay with torch and the reasons, bytes across the borders.
File: its sections, and their bytes with their meaning.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base import words as fmt
from core.views.accelerator import program as programs
from core.views.accelerator import run as views
from pages import menu
from pages.components.code.view import CodeLine, CodePicture, code_view
from pages.look.palette import FILL, SHORT, kernel_colour
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose
from pages.parts.accelerator.program import (
    change_menu,
    changes_station,
    chosen_segment,
    memory_station,
    nodes_of,
    offer,
    passes_station,
    program_or_reason,
    program_station,
    run_before,
    stages_chart,
)
from pages.parts.code import drawer, open_button, stage
from pages.parts.graphs.drawn import fx_drawn, node_lines, node_of, show
from pages.session import url
from pages.session.actions import attempt
from pages.session.downloads import download, downloads, json_twin
from pages.session.shown import RunView, View
from pages.session.tables import Parts, draw, draw_chart, newly_picked_row
from pages.session.url import page_link, set_state

GRAPH, CHANGES = "graph", "changes"
IN_ORDER = (GRAPH, "program", "passes", "memory", "file", "calls")
NODE, ORDER, REFUSED = "node", "order", "with torch"
LARGEST_DOWNLOAD_BYTES = 67_108_864  #: limit: a program to download


def accelerator_parts(run: RunView) -> Parts:
    """Return the parts of the page by their names."""
    return {views.OFFER: partial(offer, run), views.STEPS: partial(_steps, run)}


def _steps(run: RunView, accelerator: views.AcceleratorView) -> None:
    """Draw the row of steps, and the chosen step."""
    view = run.of(accelerator.compilation)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        station = station_of(view)
        segment = chosen_segment(accelerator)
        change_menu(view, segment)
        with downloads():
            json_twin("pipeline", accelerator.compilation.pipelines, key="pipeline")
    draw_station(view, segment, station, row)


def station_of(view: View) -> str:
    """Draw the choice of a step, and return it; the step `changes` needs a run to compare with."""
    offered = [*IN_ORDER, *([CHANGES] if run_before(view) else [])]
    url.read(url.STATION, offered, GRAPH)
    chosen = st.segmented_control("Station", offered, key=url.STATION, label_visibility="collapsed")
    url.write(url.STATION)
    return chosen or GRAPH


def draw_station(view: View, segment: views.SegmentView, station: str, row: DeltaGenerator) -> None:
    """Draw one step; `row` is the container of the row of steps."""
    before = run_before(view)
    if station == CHANGES and before is not None:
        changes_station(before, view)
    elif station in WITH_BUTTON:
        WITH_BUTTON[station](view, segment, row)
    else:
        STATIONS[station](view, segment)


def calls_station(view: View, segment: views.SegmentView) -> None:
    """Draw the calls as a table, the fallbacks by reason, and the build stages as bars."""
    accelerator = views.AcceleratorView(view.report, view.compilation)
    st.caption(prose(accelerator.calls))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if accelerator.crossings:
            draw([accelerator.call_table])
        for line in accelerator.fallbacks:
            st.caption(plain(line, LONGEST_TEXT))
        page_link(menu.SPEEDUP, **{url.COMPILATION: view.compilation.id})
    with right:
        st.markdown(f"**{segment.stages_title}**")
        name = f"stages-{view.compilation.id}-{segment.direction}"
        draw_chart(view, name, partial(stages_chart, segment.stages))


def graph_station(view: View, segment: views.SegmentView, row: DeltaGenerator) -> None:
    """Draw the graph with its drawer; `row` is the container of the row of steps."""
    graph = segment.graph
    with row:
        open_button(ORDER, "What runs, in order", ":material/format_list_numbered:")
    place, selected = stage(), url.selected()
    if graph is None:
        place.caption(segment.no_graph)
    else:
        with place.container(key="drawing"):
            key = f"pipeline-{view.compilation.id}-{graph.id}"
            selected = show(fx_drawn(view, graph), key, overlay=segment.overlay).id
    with drawer(place, [NODE, ORDER, REFUSED], selected) as tab:
        if tab == NODE:
            _node(view, segment, selected)
        elif tab == ORDER:
            _order(segment)
        elif tab == REFUSED:
            _refused(segment)


def _node(view: View, segment: views.SegmentView, selected: str | None) -> None:
    nodes = nodes_of(view, segment)
    node = node_of(nodes, selected)
    if node is None:
        st.caption(segment.no_node)
    else:
        st.table({name: prose(text) for name, text in segment.place(node).items()}, border="horizontal")
        if program := segment.program_of(node):
            show_program = partial(_show_program, program)
            st.button(
                "Its program", icon=":material/list_alt:", key="to-program", on_click=show_program, type="tertiary"
            )
    node_lines(view, nodes, node, f"{view.compilation.id}-{segment.direction}")


def _show_program(segment_id: str) -> None:
    set_state(url.SEGMENT, segment_id)
    set_state(url.STATION, "program")


def _order(segment: views.SegmentView) -> None:
    """Draw the segments and ops in their order of execution; a click on a row selects its first node."""
    st.caption(segment.division)
    picked = newly_picked_row(segment.order, height=SHORT * 2)
    if picked is not None:
        url.select(f"n:{segment.first_node(picked)}")
        st.rerun()


def _refused(segment: views.SegmentView) -> None:
    """Draw the ops that stay with torch, by reason."""
    if not segment.refusals:
        st.caption(segment.no_refusal)
    for count, reason, names in segment.refusals:
        st.markdown(f"**{count}**: {prose(reason)}  \n{prose(names)}")


def file_station(view: View, segment: views.SegmentView, row: DeltaGenerator) -> None:
    """Draw the bytes of a section below the `row` of steps, or the recorded table of sections."""
    program = program_or_reason(segment)
    if program is None:
        return
    file = attempt(lambda: programs.ProgramFileView.open(view.run.path, program.segment))
    if file is None:
        draw([program.sections])
        return
    with row:
        _downloads(file)
    st.caption(prose(file.words))
    key = f"{view.compilation.id}-{segment.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        section = _section(file)
        stretch = _stretch(file, section, key)
    st.caption(file.section_words(section))
    _bytes(file, section, stretch, key)


def _downloads(file: programs.ProgramFileView) -> None:
    name = one_line(file.segment.file, LONGEST_NAME)
    if file.size > LARGEST_DOWNLOAD_BYTES:
        st.caption(file.too_large(LARGEST_DOWNLOAD_BYTES))
        return
    download("Program", lambda: file.data, name, key="program-file", help=file.program_help)
    source = file.as_c
    if source is not None:
        download("As C", source, f"{name.removesuffix('.cbp')}.c", "text/x-c", key="program-c", help=file.c_help)


def _section(file: programs.ProgramFileView) -> str:
    sizes = file.sections
    header = next(iter(sizes))
    url.read(url.LISTING, sizes, header)
    chosen = st.segmented_control(
        "Section",
        list(sizes),
        key=url.LISTING,
        format_func=lambda name: f"{name} · {fmt.bytes_(sizes.get(name))}",
        label_visibility="collapsed",
    )
    url.write(url.LISTING)
    return chosen or header


def _stretch(file: programs.ProgramFileView, section: str, key: str) -> int:
    """Return the index of the section's part to show; draw a choice if the section has several parts."""
    count, words = file.stretches(section)
    if count == 1:
        return 0
    chosen = st.number_input(
        "Stretch",
        *(1, count, 1),
        key=f"stretch-{key}-{section}",
        label_visibility="collapsed",
        width=150,
        help=words,
    )
    return int(chosen) - 1


def _bytes(file: programs.ProgramFileView, section: str, stretch: int, key: str) -> None:
    if words := file.empty_words(section):
        st.caption(words)
        return
    dump = attempt(lambda: file.dump(section, stretch))
    title, rows = dump or ("", [])
    if rows:
        colour = kernel_colour(list(file.sections).index(section))
        lines = tuple(CodeLine(number, f"h:{offset}", text, (), colour) for number, offset, text in rows)
        first = rows[0][0] - 1
        code_view(CodePicture(title, "text", lines), key=f"dump-{key}-{section}-{first}", height=FILL, channel="dump")


STATIONS: dict[str, Callable[[View, views.SegmentView], None]] = {
    "program": program_station,
    "passes": passes_station,
    "memory": memory_station,
    "calls": calls_station,
}

# Steps with their own button in the row of steps.
WITH_BUTTON: dict[str, Callable[[View, views.SegmentView, DeltaGenerator], None]] = {
    GRAPH: graph_station,
    "file": file_station,
}
