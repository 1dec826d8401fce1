"""The graphs of a report as input of the graph view: FX graphs, the schedule before and after fusion, films of passes.

Every view of a page uses the same ids: `n:` an FX node, `s:` a scheduler node, `g:` a group of nodes, `m:` a module,
`k:` a kernel, `l:` a line of the user's code, `c:` a line of generated code.
"""

from __future__ import annotations

from collections.abc import Callable

from core import open_model
from core.analysis import FilmStep, Segment, film, partitions
from core.analysis.kernels import kernel_names, kernel_seconds
from core.base import words as fmt
from core.graph import after_model, before_model, film_model, fusion_frames, kernels_of, source_path
from core.report import Compilation, FxGraph, FxNode, Partition, Schedule
from pages.components.graph.store import Look, stored
from pages.components.graph.view import Chosen, Drawn, WireStep, drawn, graph_view
from pages.look.sizes import FILL
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.code import kernel_colours
from pages.session import url
from pages.session.cache import cached
from pages.session.view import View


def show(
    picture: Drawn,
    key: str,
    *,
    frame: int | None = None,
    overlay: str = "",
    step: str = "",
    on_activate: Callable[[str], None] | None = None,
) -> Chosen:
    """Draw a graph that fills the page; its selection and its overlay are in the URL."""
    chosen = graph_view(
        picture,
        key=key,
        height=FILL,
        selected=url.selected(),
        frame=frame,
        overlay=url.asked(url.COLOUR) or overlay,
        step=step,
        on_activate=on_activate,
    )
    url.put(url.COLOUR, None if chosen.overlay == overlay else chosen.overlay)
    if not step:
        url.select(chosen.id)
    return chosen


def look(view: View) -> Look:
    """Return the names and colours of a compilation's kernels."""
    return Look(kernel_colours(view.report), kernel_names(view.compilation))


def lowered_graph(compilation: Compilation, schedule: Schedule) -> FxGraph | None:
    """Return the graph that a schedule was made from."""
    return compilation.lowered(schedule.direction) or next(iter(compilation.lowered_graphs), None)


def lowered_nodes(view: View, schedule: Schedule) -> dict[str, FxNode]:
    """Return the FX nodes that a schedule's origins name."""
    graph = lowered_graph(view.compilation, schedule)
    return {node.name: node for node in view.nodes(graph)} if graph else {}


@cached("Laying the graph out")
def _fx(run_id: str, compile_id: str, graph_id: str, _view: View, _graph: FxGraph) -> Drawn:
    model = open_model(_view.run, _view.report, _view.compilation, _graph, _view.nodes)
    return drawn(stored(model, look(_view)))


def fx_drawn(view: View, graph: FxGraph) -> Drawn:
    """Return an FX graph's drawing; a joint graph has the partitioner's decisions."""
    return _fx(view.run.id, view.compilation.id, graph.id, view, graph)


@cached()
def _partitions(run_id: str, compile_id: str, _view: View) -> tuple[Partition, ...]:
    return partitions(_view.compilation, _view.nodes)


def partitions_of(view: View) -> tuple[Partition, ...]:
    """Return the partitions of a compilation's joint graphs into forward and backward."""
    return _partitions(view.run.id, view.compilation.id, view)


@cached("Laying the graph out")
def _fusion(run_id: str, compile_id: str, index: int, morph: bool, _view: View) -> tuple[Drawn, ...]:
    compilation, path = _view.compilation, source_path(_view.report)
    schedule, seconds = compilation.schedules[index], kernel_seconds(_view.report, compilation)
    nodes, look_ = lowered_nodes(_view, schedule), look(_view)
    kernels = {kernel.id: kernel for kernel in compilation.kernels}
    before = stored(before_model(schedule, nodes, source=path, seconds=seconds), look_)
    after = stored(after_model(schedule, nodes, kernels, source=path, seconds=seconds), look_)
    if morph:
        return (drawn(before, morph=after),)
    frames = [WireStep(frame.title, frame.detail) for frame in fusion_frames(schedule, kernels)]
    return drawn(before), drawn(after, frames, before)


def fusion_drawn(view: View, index: int, morph: bool) -> tuple[Drawn, ...]:
    """Return the drawings of the scheduler before fusion, and after it as a film of its steps.

    For a morph, return one graph that turns into the other.
    """
    return _fusion(view.run.id, view.compilation.id, index, morph, view)


@cached("Reading the graphs")
def _segments(run_id: str, compile_id: str, _view: View) -> tuple[Segment, ...]:
    return film(_view.compilation, _view.nodes)


def segments_of(view: View) -> tuple[Segment, ...]:
    """Return the film of a compilation: one segment for each run of graphs in which names mean the same nodes."""
    return _segments(view.run.id, view.compilation.id, view)


@cached("Laying the graph out")
def _film(run_id: str, compile_id: str, segment_id: str, _segment: Segment, _view: View) -> Drawn:
    compilation = _view.compilation
    lowered = next((graph for graph in compilation.graphs if graph.id == _segment.frames[-1].graph), None)
    model = film_model(
        [(node.node, node.frames) for node in _segment.nodes],
        [(edge.source, edge.target, edge.frames) for edge in _segment.edges],
        kernels_of(compilation, lowered) if lowered else None,
        source=source_path(_view.report),
        states={node.name: node.states for node in _segment.nodes if len(node.states) > 1},
    )
    return drawn(stored(model, look(_view)), [film_frame(frame) for frame in _segment.frames])


def film_drawn(view: View, segment: Segment) -> Drawn:
    """Return a segment's drawing: every node of any frame, at one place for all frames."""
    return _film(view.run.id, view.compilation.id, segment.id, segment, view)


def film_frame(frame: FilmStep) -> WireStep:
    """Return a frame in the view's form."""
    return WireStep(
        one_line(frame.title, LONGEST_LINE),
        frame_words(frame),
        tuple(f"n:{name}" for name in frame.added),
        tuple(f"n:{name}" for name in frame.removed),
        tuple(f"n:{name}" for name in frame.rewritten),
    )


def frame_words(frame: FilmStep) -> str:
    """Describe a frame's changes: "+3 −2 ~1 in 412 µs", or "reordered" if only the order changed."""
    counts = ((sign, names) for sign, names in (("+", frame.added), ("−", frame.removed), ("~", frame.rewritten)))
    words = " ".join(f"{sign}{fmt.number(len(names))}" for sign, names in counts if names)
    if not words and frame.reordered:
        words = "reordered"
    took = f" in {fmt.duration_s(frame.duration_us / 1e6)}" if frame.duration_us is not None else ""
    return f"{words}{took}"
