"""The graph layout: what holds for every engine, and which engine is used when."""

import random
import sys
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import LayoutError
from core.graph.layout import ladder
from core.graph.layout.ladder import DotError, lay_out, lay_out_with_dot
from core.graph.layout.layered import Reach, lay_out_layered, loop
from core.graph.layout.model import Box, BoxPlace, Curve, Edge, Layout, Point
from tests.support.browser import PATIENCE_S

ROUNDING_PX = 0.2


@st.composite
def graphs(draw: st.DrawFn, cyclic: bool = True) -> tuple[list[Box], list[Edge]]:
    """Up to 25 boxes with any edges between them, or only with edges from an earlier to a later box."""
    sizes = draw(st.lists(st.tuples(st.integers(20, 260), st.integers(20, 160)), min_size=1, max_size=25))
    boxes = [Box(f"n:{index}", *size) for index, size in enumerate(sizes)]
    numbers = st.integers(0, len(boxes) - 1)
    pairs = draw(st.lists(st.tuples(numbers, numbers), max_size=50))
    if not cyclic:
        pairs = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    return boxes, [Edge(f"n:{source}", f"n:{target}") for source, target in pairs]


def chain(count: int) -> tuple[list[Box], list[Edge]]:
    boxes = [Box(f"b{index}", 100, 40) for index in range(count)]
    return boxes, [Edge(f"b{index}", f"b{index + 1}") for index in range(count - 1)]


def joint(count: int) -> tuple[list[Box], list[Edge]]:
    """Like a joint graph: forward, backward, and an activation saved for each step of it."""
    boxes, edges = chain(count)
    return boxes, edges + [Edge(f"b{index}", f"b{count - 1 - index}") for index in range(count // 2 - 1)]


def bounds(layout: Layout, boxes: Sequence[Box]) -> dict[str, tuple[float, float, float, float]]:
    """Left, top, right and bottom of each box."""
    pairs = zip(layout.boxes, boxes, strict=True)
    return {at.id: (at.x, at.y, at.x + box.width, at.y + box.height) for at, box in pairs}


def on_curve(curve: Curve) -> list[Point]:
    """Points along a chain of cubic Béziers."""
    points: list[Point] = []
    for start in range(0, len(curve) - 1, 3):
        a, b, c, d = curve[start : start + 4]
        for t in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            u = 1 - t
            factors = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            x = sum(factor * point[0] for factor, point in zip(factors, (a, b, c, d), strict=True))
            y = sum(factor * point[1] for factor, point in zip(factors, (a, b, c, d), strict=True))
            points.append((x, y))
    return points


def assert_sound(layout: Layout, boxes: Sequence[Box], edges: Sequence[Edge]) -> None:
    assert [at.id for at in layout.boxes] == [box.id for box in boxes]
    assert len(layout.edges) == len(edges)
    rectangles = bounds(layout, boxes)
    for left, top, right, bottom in rectangles.values():
        assert min(left, top) >= -ROUNDING_PX
        assert right <= layout.width + ROUNDING_PX
        assert bottom <= layout.height + ROUNDING_PX
    for one, other in combinations(rectangles.values(), 2):
        beside = one[2] <= other[0] + ROUNDING_PX or other[2] <= one[0] + ROUNDING_PX
        above = one[3] <= other[1] + ROUNDING_PX or other[3] <= one[1] + ROUNDING_PX
        assert beside or above
    for edge, curve in zip(edges, layout.edges, strict=True):
        assert len(curve) >= 4
        assert len(curve) % 3 == 1
        assert touches(curve[0], rectangles[edge.source])
        assert touches(curve[-1], rectangles[edge.target])


def touches(point: Point, rectangle: tuple[float, float, float, float]) -> bool:
    left, top, right, bottom = rectangle
    return left - 1 <= point[0] <= right + 1 and top - 1 <= point[1] <= bottom + 1


@given(graphs())
@settings(max_examples=150)
def test_layered_is_sound_for_any_graph(graph: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = graph
    assert_sound(lay_out_layered(boxes, edges), boxes, edges)


@given(graphs())
@settings(max_examples=150)
def test_layered_edges_pass_behind_no_other_box(graph: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = graph
    layout = lay_out_layered(boxes, edges)
    rectangles = bounds(layout, boxes)
    for edge, curve in zip(edges, layout.edges, strict=True):
        others = [sides for name, sides in rectangles.items() if name not in (edge.source, edge.target)]
        for x, y in on_curve(curve):
            assert not any(left + 1 < x < right - 1 and top + 1 < y < bottom - 1 for left, top, right, bottom in others)


@given(graphs(cyclic=False))
@settings(max_examples=100)
def test_layered_edges_of_a_dag_go_down(graph: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = graph
    layout = lay_out_layered(boxes, edges)
    rectangles = bounds(layout, boxes)
    for edge in edges:
        assert rectangles[edge.source][3] < rectangles[edge.target][1]


@given(graphs())
@settings(max_examples=6)
def test_dot_is_sound_for_any_graph(graph: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = graph
    once = list(dict.fromkeys(edges))
    assert_sound(lay_out_with_dot(boxes, once, 20.0, limited=False), boxes, once)


def test_one_box_is_at_the_origin() -> None:
    expected = Layout((BoxPlace("only", 0.0, 0.0),), (), 80.0, 30.0, "layered", "")
    assert lay_out_layered([Box("only", 80, 30)], []) == expected


def test_no_box_is_an_empty_layout() -> None:
    assert lay_out([], []) == Layout((), (), 0.0, 0.0, "layered", "")


def test_a_chain_is_one_straight_line() -> None:
    layout = lay_out_layered(*chain(3))
    assert layout.boxes == (BoxPlace("b0", 0.0, 0.0), BoxPlace("b1", 0.0, 80.0), BoxPlace("b2", 0.0, 160.0))
    assert layout.edges[0] == ((50.0, 40.0), (50.0, 60.0), (50.0, 60.0), (50.0, 80.0))


def test_a_node_without_inputs_is_right_above_its_user() -> None:
    boxes, edges = chain(5)
    layout = lay_out_layered([*boxes, Box("constant", 60, 40)], [*edges, Edge("constant", "b4")])
    row = {at.id: at.y for at in layout.boxes}
    assert row["constant"] == row["b3"]


def test_boxes_are_near_both_their_inputs_and_their_users() -> None:
    boxes, _ = chain(4)
    edges = [Edge("b0", "b1"), Edge("b0", "b3"), Edge("b1", "b2"), Edge("b1", "b3"), Edge("b2", "b3")]
    x = {at.id: at.x for at in lay_out_layered(boxes, edges).boxes}
    assert sum(abs(x[edge.source] - x[edge.target]) for edge in edges) == pytest.approx(200, abs=ROUNDING_PX)


def test_an_edge_too_long_to_bend_goes_round_the_outside() -> None:
    boxes, edges = chain(40)
    layout = lay_out_layered(boxes, [*edges, Edge("b0", "b39")])
    assert_sound(layout, boxes, [*edges, Edge("b0", "b39")])
    assert layout.width > 100
    assert len({at.x for at in layout.boxes}) == 1


def test_parts_without_connection_are_packed_in_rows() -> None:
    layout = lay_out_layered([Box(f"b{index}", 100, 40) for index in range(100)], [])
    assert layout.width < 3 * layout.height


def test_duplicates_share_a_curve_and_loops_and_cycles_are_drawn() -> None:
    boxes, _ = chain(2)
    edges = [Edge("b0", "b1"), Edge("b0", "b1"), Edge("b1", "b0"), Edge("b1", "b1")]
    for layout in (lay_out(boxes, edges, budget_s=10.0), lay_out(boxes, edges, budget_s=0.0)):
        assert_sound(layout, boxes, edges)
        assert layout.edges[0] == layout.edges[1]


def test_an_edge_to_no_box_is_an_error() -> None:
    with pytest.raises(LayoutError, match="ends at ghost, which is not a box"):
        lay_out([Box("a", 10, 10)], [Edge("a", "ghost")])


def test_two_boxes_of_one_id_are_an_error() -> None:
    with pytest.raises(LayoutError, match="share an id"):
        lay_out([Box("a", 10, 10), Box("a", 20, 20)], [])


def test_a_small_graph_is_drawn_by_dot() -> None:
    layout = lay_out(*chain(6), budget_s=10.0)
    assert (layout.engine, layout.note) == ("dot", "")
    assert_sound(layout, *chain(6))


def test_names_never_reach_graphviz() -> None:
    names = ['"];bad[', "<b>html</b>", "\\N", "n1", ""]
    boxes = [Box(name, 50, 20) for name in names]
    edges = [Edge(names[0], name) for name in names[1:]]
    layout = lay_out(boxes, edges, budget_s=10.0)
    assert layout.engine == "dot"
    assert_sound(layout, boxes, edges)


def test_dot_can_be_limited() -> None:
    boxes, edges = joint(30)
    layout = lay_out_with_dot(boxes, edges, 20.0, limited=True)
    assert layout.engine == "dot, limited"
    assert_sound(layout, boxes, edges)


@pytest.mark.parametrize("kind", ["objects", "edges"])
def test_an_answer_of_dot_without_a_part_of_the_graph_is_none(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    answer = {
        "bb": "0,0,50,200",
        "objects": [{"name": "n0", "pos": "25,150"}, {"name": "n1", "pos": "25,50"}],
        "edges": [{"id": "0", "pos": "25,130 25,110 25,90 25,70"}],
    }
    answer[kind] = answer[kind][1:]
    monkeypatch.setattr(ladder, "decoded", lambda _: answer)
    with pytest.raises(DotError, match="left out a part"):
        lay_out_with_dot([Box("a", 50, 20), Box("b", 50, 20)], [Edge("a", "b")], PATIENCE_S, limited=False)


def test_dot_is_killed_when_its_time_is_up() -> None:
    with pytest.raises(DotError):
        lay_out_with_dot(*joint(1200), budget_s=0.5, limited=False)


def test_without_time_for_dot_the_layered_layout_is_used_and_said_so() -> None:
    layout = lay_out(*chain(7), budget_s=0.01)
    assert layout.engine == "layered"
    assert layout.note == "dot did not finish 7 nodes in 10.0 ms; drawn with the layered layout"


def test_without_dot_the_layered_layout_is_used_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    layout = lay_out(*chain(8))
    assert layout.engine == "layered"
    assert layout.note == "dot failed (is pygraphviz installed?); drawn with the layered layout"


def test_large_graphs_skip_dot() -> None:
    generator = random.Random(0)
    boxes, edges = chain(3000)
    edges += [Edge(f"b{index}", f"b{index + generator.randint(2, 30)}") for index in range(0, 2900, 3)]
    layout = lay_out(boxes, edges)
    assert layout.note == "3,000 nodes are more than dot draws in 2.00 s; drawn with the layered layout"


def test_the_same_graph_is_laid_out_once_and_always_alike() -> None:
    boxes, edges = joint(40)
    assert lay_out(boxes, edges) is lay_out(list(boxes), list(edges))
    assert lay_out_layered(boxes, edges) == lay_out_layered(boxes, edges)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=40), st.data())
def test_the_largest_of_neighbours_is_found_however_many_they_are(values: list[float], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(values) - 1))
    last = data.draw(st.integers(first, len(values) - 1))
    assert Reach(values).largest(first, last) == max(values[first : last + 1])


def test_a_loop_leaves_its_box_on_the_right_and_comes_back_to_it() -> None:
    curve = loop(100.0, 50.0, Box("a", 40, 20), 15.0)
    assert curve == ((120.0, 45.0), (135.0, 45.0), (135.0, 55.0), (120.0, 55.0))
    assert loop(100.0, 50.0, Box("a", 40, 90), 15.0)[0] == (120.0, 38.0)


@pytest.mark.parametrize("engine", ["dot", "layered"])
def test_places_and_curves_are_to_a_tenth_of_a_pixel(engine: str) -> None:
    boxes = [Box(name, 33.37 + 11.13 * index, 20.01) for index, name in enumerate("abcde")]
    edges = [Edge("a", name) for name in "bcd"] + [Edge("c", "e"), Edge("d", "e")]
    layout = lay_out_with_dot(boxes, edges, 20.0, limited=False) if engine == "dot" else lay_out_layered(boxes, edges)
    assert layout.engine == engine
    curves = [value for curve in layout.edges for point in curve for value in point]
    places = [value for box in layout.boxes for value in (box.x, box.y)]
    assert [value for value in (*places, *curves, layout.width, layout.height) if value != round(value, 1)] == []


def test_boxes_of_a_layer_are_centred_on_their_neighbours() -> None:
    boxes = [Box(name, width, 40) for name, width in zip("abcdef", (60, 200, 60, 120, 60, 60), strict=True)]
    layout = lay_out_layered(boxes, [Edge(*pair) for pair in ("ab", "ac", "bd", "ce", "df", "ef", "af")])
    assert [(box.id, box.x, box.y) for box in layout.boxes] == [
        ("a", 264, 0),
        ("b", 0, 80),
        ("c", 222, 80),
        ("d", 80, 160),
        ("e", 222, 160),
        ("f", 264, 240),
    ]
