"""A film of a compilation's passes, held against the graphs that torch logged."""

from collections.abc import Callable
from pathlib import Path

from core.analysis.film import film, graph_at, meaning
from core.report import Compilation, FxGraph, FxNode
from core.trace.parsers.build import load_graph

NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]


def reader(log: Path, compilation: Compilation) -> NodesOf:
    return lambda graph: load_graph(log, compilation, graph)


def check(compilation: Compilation, nodes_of: NodesOf) -> None:
    """Each segment ends with the last graph that torch logged of it, node for node and in torch's order."""
    graphs = {graph.id: graph for graph in compilation.graphs}
    for segment in film(compilation, nodes_of):
        logged = [frame.graph for frame in segment.frames if frame.graph]
        last = graph_at(segment, len(segment.frames) - 1)
        assert segment.frames[-1].graph or segment.chapter == "joint"
        if segment.frames[-1].graph:
            assert [meaning(node) for node in last] == [meaning(node) for node in nodes_of(graphs[logged[-1]])]
        for index, (old, new) in enumerate(zip(segment.frames, segment.frames[1:], strict=False), 1):
            before = {node.name for node in graph_at(segment, index - 1)}
            after = {node.name for node in graph_at(segment, index)}
            assert (set(new.added), set(new.removed)) == (after - before, before - after), (old, new)
            read = {(source, node.name) for node in graph_at(segment, index) for source in node.inputs}
            there = {
                (edge.source, edge.target)
                for edge in segment.edges
                if any(first <= index < end for first, end in edge.frames)
            }
            assert there == read
