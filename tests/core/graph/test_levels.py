"""One level laid out: parts, bundles, fallbacks, and dot's process behind it."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.graph.layout.ladder import DotError, DotServer, lay_out_with_dot
from core.graph.layout.model import Box, Layout
from core.graph.layout.model import Edge as Link
from core.graph.levels import level
from core.graph.model import Edge, GraphModel, Group, Node


def graph(count: int, edges: list[tuple[int, int]]) -> GraphModel:
    nodes = tuple(Node(f"n:{index}", "some op", "f32[8, 64]", "other", -1) for index in range(count))
    return GraphModel(nodes, tuple(Edge(*pair) for pair in edges))


def tangle(count: int) -> tuple[list[Box], list[Link]]:
    generator = random.Random(count)
    boxes = [Box(str(index), 120, 40) for index in range(count)]
    pairs = [sorted(generator.sample(range(count), 2)) for _ in range(2 * count)]
    return boxes, [Link(str(one), str(other)) for one, other in pairs]


def test_each_connected_part_is_laid_out_by_itself() -> None:
    shown = level(graph(5, [(0, 1), (2, 3)]), budget_s=10.0)
    assert [item.part for item in shown.items] == [0, 0, 1, 1, 2]
    assert len(shown.parts) == 3
    assert {(item.x, item.y) for item in (shown.items[0], shown.items[2], shown.items[4])} == {(0.0, 0.0)}


def test_edges_between_two_items_are_one_bundle_that_counts_each_value_once() -> None:
    nodes = tuple(Node(f"n:{index}", "a", "", "other", 0 if index < 2 else 1) for index in range(4))
    groups = (Group("m:a", "a", "", "module", -1, 0, 2, 2), Group("m:b", "b", "", "module", -1, 2, 4, 2))
    edges = (
        Edge(0, 2, "f32[4]", 16, ((0, 2),)),
        Edge(0, 3, "f32[4]", 16, ((1, 3),)),
        Edge(1, 3, "f32[8]", 32, ((5, 6),)),
    )
    shown = level(GraphModel(nodes, edges, groups))
    (bundle,) = shown.edges
    assert (bundle.source, bundle.target, bundle.label, bundle.bytes, bundle.count) == (0, 1, "", 48, 3)
    assert bundle.ends == ((0, 2), (0, 3), (1, 3))
    assert bundle.frames == ((0, 3), (5, 6))
    assert [(item.node, item.group) for item in shown.items] == [(-1, 0), (-1, 1)]


def test_a_level_is_laid_out_once() -> None:
    model = graph(3, [(0, 1)])
    assert level(model) is level(model)


def test_a_group_that_is_not_there_has_no_level() -> None:
    with pytest.raises(IndexError, match="no group 0"):
        level(graph(3, []), 0)


def test_a_large_level_is_drawn_without_dot_and_says_how() -> None:
    model = graph(400, [(index, index + 1) for index in range(399)])
    assert level(model).note == "400 nodes are more than dot draws in 300 ms; drawn with the layered layout"


def test_dot_lays_out_again_after_it_was_killed() -> None:
    with pytest.raises(DotError):
        lay_out_with_dot(*tangle(600), budget_s=0.05, limited=False)
    assert lay_out_with_dot(*tangle(5), budget_s=10.0, limited=False).engine == "dot"


def test_threads_share_one_dot() -> None:
    def one(count: int) -> Layout:
        return lay_out_with_dot(*tangle(count), budget_s=20.0, limited=True)

    with ThreadPoolExecutor(4) as threads:
        layouts = list(threads.map(one, range(3, 20)))
    assert [len(found.boxes) for found in layouts] == list(range(3, 20))


def test_dots_process_ends_with_its_server() -> None:
    import sys

    server = DotServer(sys.executable, "json0")
    server.ask("digraph { n0 }", 10.0)
    process = server._process
    assert process is not None
    del server
    assert process.poll() is not None
