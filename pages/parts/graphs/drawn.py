"""Drawings of a compilation's graphs, cached for all sessions, and the source lines of nodes.

`graph_picture` draws a graph on the overview, `stage_row` the choice of a recorded graph. Every view of a
page uses the same ids: `n:` an FX node, `s:` a scheduler node, `g:` a group of nodes, `m:` a module, `k:` a
kernel, `l:` a line of the user's code, `c:` a line of generated code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from core.base import words as fmt
from core.report import FxGraph, FxNode, Place
from core.views import wire
from core.views.capture import CaptureView
from core.views.colours import kernel_colours
from core.views.fusion import FusionView, fusion_schedules
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.graph import GraphView
from core.views.passes import PartitionView, PassesView
from core.views.texts import SourceView
from pages import menu
from pages.components.boxes.view import Stop, Stretch, stages
from pages.components.code.view import code_view
from pages.components.graph.view import Chosen, GraphDrawing, drawn, graph_view
from pages.look.palette import FILL, PICTURE, TALL
from pages.look.text import LONGEST_NAME, one_line, plain
from pages.parts.code import line_prefix, node_links, places_of, recorded_files, user_code
from pages.session import url
from pages.session.server import cached
from pages.session.shown import RunView, View, shown_compilation
from pages.session.url import set_state

# Facts of a launch that stand in the drawer: where it is from, savings, calls of eager, and refused fusions.
OF_LAUNCH = ("module", "lines", "fusion saved", "against eager", "eager", "written", "spans", "not fused")


def show(
    picture: GraphDrawing,
    key: str,
    *,
    frame: int | None = None,
    overlay: str = "",
    step: str = "",
    own: str | None = None,
    graph: str = "",
    outlined: tuple[str, ...] = (),
    tie: str = "",
    on_activate: Callable[[str], None] | None = None,
) -> Chosen:
    """Draw a graph that fills the page; return the visitor's choice in it.

    The overlay is written to the URL, and also the selection unless `step` links several views, which have their `own`.
    `graph` is the graph of the FX nodes, empty for nodes of several graphs.
    """
    selected = own if step else url.selected()
    chosen = graph_view(
        picture,
        key=key,
        height=FILL,
        selected=selected,
        frame=frame,
        overlay=url.asked(url.COLOUR) or overlay,
        outlined=outlined,
        tie=tie,
        step=step,
        on_activate=on_activate,
    )
    url.put(url.COLOUR, None if chosen.overlay == overlay else chosen.overlay)
    if not step and chosen.id != selected and url.select(chosen.id, graph):
        st.rerun()
    return chosen


def captures_of(view: View) -> CaptureView:
    """Return the captures of a run's model, with the graphs of the shown compilation."""
    return CaptureView(view.report, view.compilation, view.nodes, view.text)


def fx_view(view: View, graph: FxGraph) -> FxGraphView:
    """Return the view of an FX graph of a compilation."""
    return FxGraphView(view.run, view.report, view.compilation, graph, view.nodes)


def fusion_view(view: View, index: int) -> FusionView:
    """Return the fusion view of a compilation's scheduled graph, by the graph's index."""
    return FusionView(view.report, view.compilation, fusion_schedules(view.compilation)[index], view.nodes)


def fx_drawn(view: View, graph: FxGraph) -> GraphDrawing:
    """Return an FX graph's drawing; a joint graph has the partitioner's decisions."""
    return _fx(view.run.id, view.compilation.id, graph.id, view, graph)


def partitions_of(view: View) -> tuple[PartitionView, ...]:
    """Return the partitions of a compilation's joint graphs into forward and backward."""
    return _partitions(view.run.id, view.compilation.id, view)


def captures_drawn(view: View, captures: CaptureView) -> GraphDrawing:
    """Return one drawing of the graphs of all captures, each a group."""
    return _captures(view.run.id, view.compilation.id, view, captures)


def fusion_drawn(view: View, index: int, fusion: FusionView | None = None) -> GraphDrawing:
    """Return the drawing of a graph's fusion: a film from the ops to the kernel launches.

    `fusion` is the graph's view, if the caller has it.
    """
    return _fusion(view.run.id, view.compilation.id, index, view, fusion or fusion_view(view, index))


def launch_facts(view: View, index: int, selected: str | None) -> None:
    """Draw a selected launch's time, lines, savings and refused fusions; of a layer, its launches."""
    graph = fusion_drawn(view, index).graph.view
    hit = graph.find(selected or "")
    hulls = [group for group in (hit.path if hit else ()) if graph.model.groups[group].kind in ("launch", "library")]
    facts = graph.group_facts(hulls[-1]) if hulls else ()
    shown = [f"**{plain(name)}** {plain(text)}" for name, text in facts if name.startswith(OF_LAUNCH)]
    if hulls:
        st.caption("  \n".join([plain(graph.model.groups[hulls[-1]].detail), *shown]))
    elif hit and hit.path:
        st.caption("  \n".join(map(plain, graph.launches_in(hit.path[-1]))))


def passes_of(view: View) -> tuple[PassesView, ...]:
    """Return the passes over each of a compilation's graphs."""
    return _passes(view.run.id, view.compilation.id, view)


def film_drawn(view: View, passes: PassesView) -> GraphDrawing:
    """Return the drawing of passes: the nodes of all steps, each at the same position in all steps."""
    effects = tuple(passes.effects.items())
    return _film(view.run.id, view.compilation.id, passes.id, effects, passes, view)


@cached("Laying the graph out")
def _fx(run_id: str, compile_id: str, graph_id: str, _view: View, _graph: FxGraph) -> GraphDrawing:
    return drawn(_coloured(_view, fx_view(_view, _graph).picture))


@cached("Laying the graphs out")
def _captures(run_id: str, compile_id: str, _view: View, _captures: CaptureView) -> GraphDrawing:
    return drawn(wire.stored(_captures.picture))


@cached()
def _partitions(run_id: str, compile_id: str, _view: View) -> tuple[PartitionView, ...]:
    return PartitionView.of(_view.compilation, _view.nodes)


@cached("Laying the graph out")
def _fusion(run_id: str, compile_id: str, index: int, _view: View, _fusion: FusionView) -> GraphDrawing:
    return drawn(_coloured(_view, _fusion.picture))


@cached("Reading the graphs")
def _passes(run_id: str, compile_id: str, _view: View) -> tuple[PassesView, ...]:
    return PassesView.of(_view.report, _view.compilation, _view.nodes)


@cached("Laying the graph out")
def _film(
    run_id: str, compile_id: str, graph_id: str, effects: tuple[tuple[str, str], ...], _passes: PassesView, _view: View
) -> GraphDrawing:
    return drawn(_coloured(_view, _passes.picture))


def _coloured(view: View, graph: GraphView) -> wire.StoredGraph:
    """Return a graph with the colours of the run's kernels."""
    return wire.stored(graph, kernel_colours(view.report))


def graph_picture(of: RunView) -> None:
    """Draw the shown compilation's fusion, with a link to its page; without fusion, its first graph.

    Draw nothing for a live run, and for a graph without ops or with too many.
    """
    compilation = shown_compilation(of.report)
    graph = GraphStages(compilation.graphs).preview if compilation is not None else None
    if of.going or compilation is None or graph is None:
        return
    is_fused = bool(fusion_schedules(compilation))
    page, label = (menu.FUSION, "Fusion") if is_fused else (menu.FX_GRAPH, GraphStages.label(graph))
    st.page_link(page.script, label=label, icon=page.icon, query_params=url.link(compilation=compilation.id))
    stop_picture(of, page.name)


def stop_picture(of: RunView, page: str) -> bool:
    """Draw the shown compilation's graph that is on a page, in a low view; return False if there is none.

    `fx_graph` is the first graph, `partition` AOTAutograd's, `fusion` the fusion.
    """
    compilation = shown_compilation(of.report)
    if of.going or compilation is None or not compilation.graphs:
        return False
    stages, view = GraphStages(compilation.graphs), of.of(compilation)
    graph = {menu.FX_GRAPH.name: stages.first, menu.PARTITION.name: stages.traced}.get(page)
    selected, same = url.selected(), url.state_of(url.SAME)
    if page == menu.FUSION.name and fusion_schedules(compilation) and stages.first.calls <= GraphStages.most_ops:
        picture = fusion_drawn(view, 0)
        graph = compilation.lowered(fusion_schedules(compilation)[0].direction)
        selected = same.in_fusion(picture.graph.view, graph) if selected and same is not None else None
    elif graph is not None and 0 < graph.calls <= GraphStages.most_ops:
        picture = fx_drawn(view, graph)
    else:
        return False
    graph_view(picture, key=f"{page}-{compilation.id}", height=PICTURE, selected=selected)
    return True


def stage_row(graphs: Sequence[FxGraph], chosen: FxGraph) -> None:
    """Draw the recorded graphs of a compilation as a row of steps; a click selects a graph in the URL."""
    stretches = [
        Stretch(group.label, tuple(map(_stop, group.graphs)), group.starts_lane) for group in GraphStages(graphs).groups
    ]
    with st.container(key="stages"):
        stages(tuple(stretches), chosen.id, key="stage-row", on_pick=partial(set_state, url.GRAPH))


def _stop(graph: FxGraph) -> Stop:
    return Stop(graph.id, fmt.number(graph.calls), GraphStages.describe(graph))


def node_of(nodes: Iterable[FxNode], selected: str | None) -> FxNode | None:
    """Return the selected node; None if it is not one of `nodes`."""
    name = (selected or "").removeprefix("n:")
    return next((node for node in nodes if node.name == name), None)


def node_lines(view: View, nodes: Sequence[FxNode], node: FxNode | None, key: str) -> None:
    """Draw the source file of a node; the visitor can choose among the places in the node's stack.

    The innermost place is the default. Without a node, the choice is among all files: first the file of the selected
    line, then the file with most nodes.
    """
    files = recorded_files(view, nodes)
    files.sort(key=lambda path: not (url.selected() or "").startswith(f"{line_prefix(view, path)}:"))
    stack = [place for place in reversed(places_of(node)) if place.file in files] if node else []
    paths = {_title(place): place.file for place in stack} or {_title(Place(path, 0)): path for path in files}
    if not paths:
        st.caption(SourceView.no_lines)
        return
    title = next(iter(paths))
    if len(paths) > 1:
        name = node.name if node else ""
        title = st.selectbox("Lines", list(paths), key=f"lines-{key}-{name}", label_visibility="collapsed") or title
    path = paths[title]
    picture = user_code(view, path=path, links=node_links(nodes, path), breaks=view.report.graph_breaks)
    if picture is not None:
        code_view(picture, key=f"user-{key}-{path}", height=FILL, selected=url.selected())


def _title(place: Place) -> str:
    """Return `modeling_llama.py:193 in forward`, or only the file's name."""
    if not place.line:
        return one_line(place.file.rsplit("/", 1)[-1], LONGEST_NAME)
    return one_line(f"{place.short} in {place.name}" if place.name else place.short, LONGEST_NAME)


def loop_body(view: View, fusion: FusionView, selected: str | None) -> bool:
    """Draw Inductor's IR of the selected op or kernel; return False if it was not recorded."""
    if selected is None:
        st.caption(fusion.no_ir_picked)
        return True
    text = fusion.ir(selected, view.text)
    if text:
        st.code(text, language="python", height=TALL)
    else:
        st.caption(fusion.no_ir)
    return bool(text)
