"""From a report's graphs to what the graph view draws: FX graphs, the scheduler before and after fusion, films of
passes.

Ids are shared by every view of a page: `n:` an FX node, `s:` a scheduler node, `g:` a group of them, `m:` a module,
`k:` a kernel, `l:` a line of the user's code, `c:` a line of generated code.
"""

from __future__ import annotations

from core import open_model
from core.analysis import FilmFrame, Segment, film, kernel_seconds, partitions
from core.graph import after_model, before_model, film_model, fusion_frames, kernels_of, source_path
from core.report import Compilation, FxGraph, FxNode, Partition, Report, Schedule
from pages.components.graph.store import Look, stored
from pages.components.graph.view import Drawn, Frame, drawn
from pages.look import format as fmt
from pages.look.text import one_line
from pages.parts.code import kernel_colours
from pages.session.cache import cached
from pages.session.shown import Shown, nodes_of

LOWERED = "inductor_post_grad_graph"


def look(report: Report, item: Compilation) -> Look:
    """Names and colours of a compilation's kernels."""
    return Look(kernel_colours(report), {kernel.id: kernel.name for kernel in item.kernels})


def lowered_graph(item: Compilation, schedule: Schedule) -> FxGraph | None:
    """The graph that a schedule was made of."""
    found = [graph for graph in item.graphs if graph.stage == LOWERED]
    return next((graph for graph in found if graph.direction == schedule.direction), found[0] if found else None)


def lowered_nodes(here: Shown, item: Compilation, schedule: Schedule) -> dict[str, FxNode]:
    """The FX nodes that a schedule's origins name."""
    graph = lowered_graph(item, schedule)
    return {node.name: node for node in nodes_of(here, item, graph)} if graph else {}


@cached(64, "Laying the graph out")
def _fx(
    run_id: str,
    compile_id: str,
    graph_id: str,
    _here: Shown,
    _report: Report,
    _item: Compilation,
    _graph: FxGraph,
) -> Drawn:
    model = open_model(_here.run, _report, _item, _graph, lambda other: nodes_of(_here, _item, other))
    return drawn(stored(model, look(_report, _item)))


def fx_drawn(here: Shown, report: Report, item: Compilation, graph: FxGraph) -> Drawn:
    """An FX graph; a joint graph with the partitioner's decisions."""
    return _fx(here.run.id, item.id, graph.id, here, report, item, graph)


@cached(64)
def _partitions(run_id: str, compile_id: str, _here: Shown, _item: Compilation) -> tuple[Partition, ...]:
    return partitions(_item, lambda graph: nodes_of(_here, _item, graph))


def partitions_of(here: Shown, item: Compilation) -> tuple[Partition, ...]:
    """How the joint graphs of a compilation were divided into forward and backward."""
    return _partitions(here.run.id, item.id, here, item)


@cached(64, "Laying the graph out")
def _fusion(run_id: str, compile_id: str, index: int, morph: bool, _here: Shown, _report: Report) -> tuple[Drawn, ...]:
    item = _report.compilation(compile_id)
    assert item is not None
    schedule = item.schedules[index]
    nodes, seconds, path = lowered_nodes(_here, item, schedule), kernel_seconds(item), source_path(_report)
    kernels = {kernel.id: kernel for kernel in item.kernels}
    look_ = look(_report, item)
    before = stored(before_model(schedule, nodes, source=path, seconds=seconds), look_)
    after = stored(after_model(schedule, nodes, kernels, source=path, seconds=seconds), look_)
    if morph:
        return (drawn(before, morph=after),)
    frames = [Frame(frame.title, frame.detail) for frame in fusion_frames(schedule)]
    return drawn(before), drawn(after, frames)


def fusion_drawn(here: Shown, report: Report, item: Compilation, index: int, morph: bool) -> tuple[Drawn, ...]:
    """The scheduler before fusion, and after it as a film of its steps; for a morph one graph that becomes the
    other.
    """
    return _fusion(here.run.id, item.id, index, morph, here, report)


@cached(32, "Reading the graphs")
def _segments(run_id: str, compile_id: str, _here: Shown, _item: Compilation) -> tuple[Segment, ...]:
    return film(_item, lambda graph: nodes_of(_here, _item, graph))


def segments_of(here: Shown, item: Compilation) -> tuple[Segment, ...]:
    """The film of a compilation, a segment for each run of graphs in which names mean the same."""
    return _segments(here.run.id, item.id, here, item)


@cached(64, "Laying the graph out")
def _film(run_id: str, compile_id: str, segment_id: str, _segment: Segment, _here: Shown, _report: Report) -> Drawn:
    item = _report.compilation(compile_id)
    assert item is not None
    lowered = next((graph for graph in item.graphs if graph.id == _segment.frames[-1].graph), None)
    model = film_model(
        [(node.node, node.frames) for node in _segment.nodes],
        [(edge.source, edge.target, edge.frames) for edge in _segment.edges],
        kernels_of(item, lowered) if lowered else None,
        source=source_path(_report),
        states={node.name: node.states for node in _segment.nodes if len(node.states) > 1},
    )
    return drawn(stored(model, look(_report, item)), [film_frame(frame) for frame in _segment.frames])


def film_drawn(here: Shown, report: Report, item: Compilation, segment: Segment) -> Drawn:
    """A segment of the film: every node that is there in any frame, at one place for all of them."""
    return _film(here.run.id, item.id, segment.id, segment, here, report)


def film_frame(frame: FilmFrame) -> Frame:
    """A frame as the view tells it."""
    return Frame(
        one_line(frame.title, 120),
        frame_words(frame),
        tuple(f"n:{name}" for name in frame.added),
        tuple(f"n:{name}" for name in frame.removed),
        tuple(f"n:{name}" for name in frame.rewritten),
    )


def frame_words(frame: FilmFrame) -> str:
    """What a frame changed: "+3 −2 ~1 in 412 µs", or that only the order changed."""
    counts = ((sign, names) for sign, names in (("+", frame.added), ("−", frame.removed), ("~", frame.rewritten)))
    words = " ".join(f"{sign}{fmt.number(len(names))}" for sign, names in counts if names)
    if not words and frame.reordered:
        words = "reordered"
    took = f" in {fmt.duration_s(frame.duration_us / 1e6)}" if frame.duration_us is not None else ""
    return f"{words}{took}"
