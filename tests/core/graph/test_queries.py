"""Questions to a graph, and what it is exported as."""

import html
import re

import msgspec
import pygraphviz
import pytest

from benchmarks.synthetic import synthetic_nodes
from core.graph.fx import fx_model
from core.graph.levels import Hit, as_dot, as_json, between, find, level, neighbourhood, search
from core.graph.model import Edge, GraphModel, Group, Node

HOSTILE = [
    '"];bad -> worse [label="',
    "<b>bold</b>",
    "\\N \\G \\L",
    "ends with \\",
    'quote " and \\" more',
    "two\nlines",
    "}\nsubgraph x {",
    "ünï ✓",
    "tab\tbell\x07",
    "a &lt; b & c &#92;",
]


def graph(*edges: tuple[int, int], count: int = 6) -> GraphModel:
    nodes = tuple(Node(f"n:{name}", f"op {name}", "f32[4]", "pointwise", -1) for name in "abcdef"[:count])
    return GraphModel(nodes, tuple(Edge(*pair) for pair in edges))


def ids(model: GraphModel | None) -> list[str]:
    assert model is not None
    return [node.id for node in model.nodes]


def test_an_id_is_found_with_the_groups_around_it() -> None:
    nodes = (
        Node("n:a", "a", "", "other", -1),
        Node("g:b", "b", "", "other", 1, links=("s:1", "k:kernel", "l:7")),
    )
    groups = (Group("m:x", "x", "", "module", -1, 1, 2, 1), Group("m:x.y", "y", "", "module", 0, 1, 2, 1))
    model = GraphModel(nodes, (), groups)
    assert find(model, "n:a") == Hit((), 0)
    assert {item: find(model, item) for item in ("g:b", "s:1", "k:kernel", "l:7")} == dict.fromkeys(
        ("g:b", "s:1", "k:kernel", "l:7"), Hit((0, 1), 1)
    )
    assert find(model, "m:x.y") == Hit((0, 1), -1)
    assert find(model, "n:nowhere") is None


def test_a_search_finds_by_op_shape_and_module_best_first() -> None:
    model = fx_model(synthetic_nodes(300))
    total, hits = search(model, "mm")
    assert total == len([node for node in model.nodes if node.label == "mm"])
    assert {model.nodes[hit.node].label for hit in hits} == {"mm"}
    assert all(model.groups[hit.path[-1]].first <= hit.node < model.groups[hit.path[-1]].last for hit in hits)
    shaped = search(model, "4096]")[1]
    assert {model.nodes[hit.node].detail for hit in shaped} == {
        "f32[2048, 4096]",
        "f32[1024, 4096]",
        "f32[4, 512, 4096]",
    }
    inside = search(model, "layers.2 attention mm")[1]
    assert [model.nodes[hit.node].tooltip.partition("\n")[2].split(".")[2] for hit in inside] == ["2"] * 4
    assert search(model, "no such thing") == (0, [])
    assert search(model, "  ") == (0, [])


def test_a_search_shows_how_many_there_are_and_gives_the_first_200() -> None:
    model = fx_model(synthetic_nodes(3000))
    total, hits = search(model, "view")
    assert (total > 400, len(hits)) == (True, 200)


def test_the_neighbourhood_goes_both_ways_and_keeps_the_edges_inside() -> None:
    model = graph((0, 1), (1, 2), (2, 3), (3, 4), (1, 5))
    assert ids(neighbourhood(model, "n:c", 1)) == ["n:b", "n:c", "n:d"]
    assert ids(neighbourhood(model, "n:c", 2)) == ["n:a", "n:b", "n:c", "n:d", "n:e", "n:f"]
    part = neighbourhood(model, "n:c", 1)
    assert part is not None
    assert [(edge.source, edge.target) for edge in part.edges] == [(0, 1), (1, 2)]
    assert neighbourhood(model, "n:nowhere", 1) is None


def test_a_neighbourhood_is_bounded() -> None:
    nodes = tuple(Node(f"n:{index}", "x", "", "other", -1) for index in range(1000))
    star = GraphModel(nodes, tuple(Edge(0, index) for index in range(1, 1000)))
    assert len(ids(neighbourhood(star, "n:0", 3))) == 400


def test_between_two_nodes_lie_all_shortest_paths_in_either_direction() -> None:
    model = graph((0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (4, 5), (5, 3))
    assert ids(between(model, "n:a", "n:d")) == ["n:a", "n:b", "n:c", "n:d"]
    assert ids(between(model, "n:d", "n:a")) == ["n:a", "n:b", "n:c", "n:d"]
    assert between(model, "n:b", "n:c") is None
    assert between(model, "n:b", "n:nowhere") is None
    assert ids(between(model, "n:b", "n:b")) == ["n:b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_a_label_in_dot(text: str) -> None:
    model = GraphModel(
        (Node(text, text, "", "other", 0), Node("n:b", "b", "", "other", -1)),
        (Edge(0, 1, text),),
        (Group(text, text, "", "module", -1, 0, 1, 1),),
    )
    parsed = pygraphviz.AGraph(string=as_dot(model))
    assert sorted(map(str, parsed.nodes())) == ["n0", "n1"]
    assert [tuple(map(str, edge)) for edge in parsed.edges()] == [("n0", "n1")]
    assert [str(found.name) for found in parsed.subgraphs()] == ["cluster_0"]
    drawn = parsed.draw(format="svg", prog="dot").decode()
    node = drawn[drawn.index("<!-- n0 -->") :].partition("</g>")[0]
    shown = [html.unescape(line).replace("\xa0", " ") for line in re.findall("<text.*?>(.*?)</text>", node)]
    assert shown == [line.replace("\t", " ").replace("\x07", " ") for line in text.split("\n")]


def test_dot_has_groups_as_clusters() -> None:
    model = fx_model(synthetic_nodes(300))
    parsed = pygraphviz.AGraph(string=as_dot(model))
    assert (len(parsed.nodes()), len(parsed.edges())) == (
        len(model.nodes),
        len({(e.source, e.target) for e in model.edges}),
    )
    assert [str(found.name) for found in parsed.subgraphs()] == ["cluster_0"]


def test_json_holds_the_whole_graph() -> None:
    model = graph((0, 1), count=2)
    assert msgspec.json.decode(as_json(model), type=dict)["nodes"][1]["id"] == "n:b"


def test_a_graph_is_forgotten_with_its_lookups() -> None:
    import gc
    import weakref

    model = graph((0, 1))
    find(model, "n:a")
    level(model)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
