"""What the browser is told of a graph: the first message, the routes, and which graphs the server keeps."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from benchmarks.synthetic import synthetic_nodes
from core.graph.fx import fx_model
from core.graph.levels import level
from core.graph.model import Edge, GraphModel, Group, Node
from core.report import Kernel, Payload
from core.views.graph import GraphFrame, GraphView
from core.views.wire import CategoryData, FrameData, StoredGraph, graph_data, stored
from pages.components.graph.routes import GRAPHS, GraphStore, graph_routes
from tests.support.asgi import get
from tests.support.reports.fx_nodes import fx


def ask(path: str, base: str = "", accept: str = "", **query: object) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a GET."""
    return get(graph_routes(base), path, accept, **query)


def body_of(path: str, **query: Any) -> Any:
    status, _, body = ask(path, **query)
    assert status == 200
    return json.loads(body)


@pytest.fixture
def graph() -> Iterator[StoredGraph]:
    """A small transformer, registered."""
    small = stored(GraphView(fx_model(synthetic_nodes(400))))
    GRAPHS.keep(small)
    yield small
    GRAPHS.forget(small.digest)


def test_levels_are_told_by_their_groups(graph: StoredGraph) -> None:
    found = body_of(f"/graph/{graph.digest}/levels", ids="0,3")["levels"]
    assert list(found) == ["0", "3"]
    assert [item["g"] for item in found["0"]["items"]] == [
        number for number, group in enumerate(graph.view.model.groups) if group.parent == 0
    ]
    item = found["0"]["items"][0]
    assert (item["kind"], item["count"], item["label"]) == ("module", 49, "layers.0")
    assert dict(item["facts"])["parameters"] == "12.6 M"
    assert len(item["v"]) == len(graph.view.model.overlays)


def test_all_levels_below_a_group_come_at_once(graph: StoredGraph) -> None:
    everything = body_of(f"/graph/{graph.digest}/all", under=-1)["levels"]
    assert set(everything) == {str(number) for number in range(-1, len(graph.view.model.groups))}
    below = body_of(f"/graph/{graph.digest}/all", under=1)["levels"]
    first, last = graph.view.model.groups[1].first, graph.view.model.groups[1].last
    nodes = sorted(item["i"] for shown in below.values() for item in shown["items"] if "i" in item)
    assert nodes == list(range(first, last))


def test_more_than_60_000_nodes_are_too_many_at_once() -> None:
    nodes = tuple(Node(f"n:{index}", "x", "", "other", 0) for index in range(60_001))
    model = GraphModel(nodes, (), (Group("m:a", "a", "", "module", -1, 0, 60_001, 60_001),))
    GRAPHS.keep(StoredGraph("large", GraphView(model), {}))
    try:
        assert [ask("/graph/large/all", under=under)[0] for under in (-1, 0)] == [413, 413]
    finally:
        GRAPHS.forget("large")


def test_search_tells_where_the_hits_are(graph: StoredGraph) -> None:
    found = body_of(f"/graph/{graph.digest}/search", q="gelu")
    assert found["total"] == len(found["hits"]) > 3
    hit = found["hits"][0]
    assert set(hit) == {"id", "label", "detail", "path", "where", "i"}
    assert graph.view.model.nodes[hit["i"]].id == hit["id"]
    assert graph.view.model.groups[hit["path"][0]].kind == "stack"


def test_an_id_is_found_with_its_path(graph: StoredGraph) -> None:
    node = graph.view.model.nodes[50]
    assert body_of(f"/graph/{graph.digest}/find", id=node.id)["i"] == 50
    assert body_of(f"/graph/{graph.digest}/find", id=node.id)["path"][-1] == node.group
    assert ask(f"/graph/{graph.digest}/find", id="n:nowhere")[0] == 404


def test_a_part_is_one_level_with_the_nodes_numbered_as_in_the_whole(graph: StoredGraph) -> None:
    edge = graph.view.model.edges[100]
    one, other = graph.view.model.nodes[edge.source], graph.view.model.nodes[edge.target]
    for query in ({"around": one.id, "hops": 1}, {"from": other.id, "to": one.id}):
        part = body_of(f"/graph/{graph.digest}/part", **query)
        numbers = {item["id"]: item["i"] for item in part["level"]["items"]}
        assert (numbers[one.id], numbers[other.id]) == (edge.source, edge.target)
        assert [edge.source, edge.target] in [end for found in part["level"]["edges"] for end in found["ends"]]
    assert body_of(f"/graph/{graph.digest}/part", around=one.id, hops=1)["title"] == f"1 hop around {one.label}"
    assert ask(f"/graph/{graph.digest}/part", around="n:nowhere")[0] == 404
    assert ask(f"/graph/{graph.digest}/part", **{"from": one.id, "to": "n:nowhere"})[0] == 404


@pytest.mark.parametrize("name", ["levels", "all", "search", "find", "part", "graph.dot", "graph.json"])
def test_a_digest_that_nobody_knows_is_lost(name: str) -> None:
    status, headers, body = ask(f"/graph/unknown/{name}", ids="1")
    assert (status, json.loads(body), headers["cache-control"]) == (404, {"lost": True}, "no-store")


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("levels", {"ids": "x"}),
        ("levels", {"ids": "-2"}),
        ("levels", {"ids": "9999"}),
        ("all", {"under": "9999"}),
        ("part", {"around": "n:x", "hops": "many"}),
    ],
)
def test_what_is_no_group_is_not_found(graph: StoredGraph, name: str, query: dict[str, str]) -> None:
    assert ask(f"/graph/{graph.digest}/{name}", **query)[0] == 404


def test_answers_are_cached_and_large_ones_zipped(graph: StoredGraph) -> None:
    path = f"/graph/{graph.digest}/all"
    _, plain, body = ask(path, under=-1)
    assert plain["cache-control"] == "private, max-age=3600"
    assert "content-encoding" not in plain
    _, headers, small = ask(path, accept="gzip, br", under=-1)
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(small) == body
    assert "content-encoding" not in ask(f"/graph/{graph.digest}/find", accept="gzip", id="n:x")[1]


def test_downloads_have_a_name(graph: StoredGraph) -> None:
    for name in ("graph.dot", "graph.json"):
        _, headers, body = ask(f"/graph/{graph.digest}/{name}")
        assert headers["content-disposition"] == f'attachment; filename="{name}"'
        assert body


def test_the_routes_stand_below_the_servers_own_path(graph: StoredGraph) -> None:
    assert ask(f"/a/b/graph/{graph.digest}/levels", base="/a/b/", ids="0")[0] == 200


def pair() -> GraphView:
    """A graph of two nodes."""
    return GraphView(GraphModel((Node("n:a", "", "", "other", -1), Node("n:b", "", "", "other", -1)), (Edge(0, 1),)))


def test_the_store_forgets_the_graph_that_was_used_longest_ago() -> None:
    store = GraphStore(most_nodes=5)
    graphs = {name: StoredGraph(name, pair(), {}) for name in "abc"}
    store.keep(graphs["a"])
    store.keep(graphs["b"])
    assert store.get("a") is graphs["a"]
    store.keep(graphs["c"])
    assert [store.get(name) is not None for name in "abc"] == [True, False, True]


def test_a_graph_larger_than_the_store_is_kept_alone() -> None:
    store = GraphStore(most_nodes=1)
    large = StoredGraph("large", pair(), {})
    store.keep(large)
    assert store.get("large") is large


def test_a_small_graph_is_unfolded_at_first_and_a_large_one_down_to_where_it_parts(graph: StoredGraph) -> None:
    small = graph_data(stored(GraphView(fx_model(synthetic_nodes(50)))))
    assert set(small.opened) == {str(number) for number in range(small.size.groups)}
    large = graph_data(graph)
    assert list(large.opened) == ["0"]


def test_the_first_message_is_json_and_says_the_same_twice(graph: StoredGraph) -> None:
    film = replace(graph.view, frames=(GraphFrame("pass", "words", added=("n:add_2", "n:nowhere")),))
    first, second = (graph_data(stored(film)) for _ in range(2))
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    sent = msgspec.to_builtins(first)
    assert set(sent) == {
        "digest", "classes", "metrics", "root", "opened", "size", "overlays", "frames", "largest",
    }  # fmt: skip


def test_frames_name_nodes_by_their_index() -> None:
    film = replace(pair(), frames=(GraphFrame("t", added=("n:b", "n:gone"), rewritten=("n:a",)),))
    data = graph_data(stored(film))
    assert data.frames == (FrameData("t", "", added=(1,), removed=(), rewritten=(0,)),)


def test_kernels_have_their_own_colours_and_names_in_their_overlay() -> None:
    nodes = synthetic_nodes(50)
    kernel = Kernel("k1", "triton_add", "inference", "triton", False, "", "g", (), (), (0, 0), (), (), Payload(0, 0))
    name = next(node.name for node in nodes if node.op == "call_function")
    view = GraphView(fx_model(nodes, {name: [kernel]}), {"k1": "triton_add"})
    data = graph_data(stored(view, {"k1": "#123456"}))
    overlay = next(found for found in data.overlays if found.name == "kernel")
    assert overlay.categories == (CategoryData("triton_add", light="#123456", dark="#123456"),)
    assert level(view.model).group == -1


def test_categories_have_the_colour_of_what_they_mean() -> None:
    nodes = [fx("a", meta="f32 s0 8"), fx("b", ["a"], target="torch.ops.aten.mm.default", meta="f32 4")]
    overlays = {overlay.name: overlay.categories for overlay in graph_data(stored(GraphView(fx_model(nodes)))).overlays}
    assert overlays["shapes"] == (
        CategoryData("dynamic: s0", light="#4A56C9", dark="#8C96F2"),
        CategoryData("static", light="#586277", dark="#98A3B6"),
    )
    assert CategoryData("matmul and convolution", light="#0967A5", dark="#2592CD") in overlays["op_class"]
