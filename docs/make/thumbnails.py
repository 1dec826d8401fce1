"""Thumbnails of the gallery: each sample's own Dynamo graph, drawn from a recorded run.

`python -m docs.make.thumbnails` compiles every sample with the backend `eager` and rewrites the thumbnails.
"""

from __future__ import annotations

from pathlib import Path

from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store, open_report, samples
from core.graph.layout.ladder import lay_out
from core.graph.layout.model import Box, Edge
from core.ops.costs import op_class
from core.report import FxNode
from core.trace.parsers.build import load_graph
from pages.look.palette import OP_CLASSES

PICTURES = Path(__file__).parents[2] / "pages" / "static" / "samples"
WIDTH, HEIGHT, MARGIN = 320.0, 96.0, 6.0
MOST_NODES = 60


def thumbnail(nodes: tuple[FxNode, ...]) -> str:
    """Return an SVG of the first `MOST_NODES` ops of a graph, left to right, coloured by class.

    The colours are legible on light and dark backgrounds.
    """
    drawn = [node for node in nodes if node.op.startswith("call_")][:MOST_NODES]
    names = {node.name for node in drawn}
    edges = [Edge(read, node.name) for node in drawn for read in node.inputs if read in names]
    layout = lay_out([Box(node.name, 10, 18) for node in drawn], edges)
    scale = min((WIDTH - 2 * MARGIN) / max(layout.height, 1), (HEIGHT - 2 * MARGIN) / max(layout.width, 1), 1.6)
    left, top = (WIDTH - layout.height * scale) / 2, (HEIGHT - layout.width * scale) / 2
    lines = [_curve(curve, scale, left, top) for curve in layout.edges]
    boxes = [
        _box(left + place.y * scale, top + place.x * scale, 18 * scale, 10 * scale, op_class(node.target))
        for node, place in zip(drawn, layout.boxes, strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}">' + "".join([*lines, *boxes]) + "</svg>\n"
    )


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    colour = OP_CLASSES[kind].dark
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{min(2, height / 4):.1f}" '
        f'fill="{colour}"/>'
    )


def _curve(points: tuple[tuple[float, float], ...], scale: float, left: float, top: float) -> str:
    """Return an edge's curve, rotated from the layout's downward flow to a flow to the right."""
    at = [f"{left + y * scale:.1f} {top + x * scale:.1f}" for x, y in points]
    return (
        f'<path d="M{at[0]}C{" ".join(at[1:])}" fill="none" stroke="#8A93A3" stroke-width="1" stroke-opacity=".7"/>'
        if at
        else ""
    )


def main() -> None:
    """Record every sample and draw it."""
    store = Store()
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for entry in samples():
        job = CompileJob(Model("sample", entry.name), compile=CompileOptions(backend="eager"), measure=False)
        run = runner.wait(runner.submit(job))
        report, log = open_report(run), run.log_path()
        graphs = [(compilation, graph) for compilation in report.compilations for graph in compilation.graphs]
        if log is not None and graphs:
            compilation, graph = max(graphs, key=lambda pair: pair[1].calls)
            picture = thumbnail(load_graph(log, compilation, graph))
            (PICTURES / f"{entry.name}.svg").write_text(picture, encoding="utf-8")
        store.delete(run)
    engine.close()


if __name__ == "__main__":
    main()
