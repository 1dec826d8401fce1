"""Nodes with the lines that they come from, as the worker records them."""

import json
from dataclasses import replace

import pytest

from core.report import FxNode, Place
from core.trace.parsers.fx_text import with_stacks

OUTER, INNER, LOOP = ("m.py", 3, "forward"), ("lib.py", 40, "attend"), ("lib.py", 7, "loop")


def node(name: str) -> FxNode:
    return FxNode(name, "call_function", "aten.add", "", (), None, 1)


def said(stacks: list[list[int]], nodes: dict[str, int]) -> str:
    return json.dumps({"schema": 1, "stage": "joint", "frames": [OUTER, INNER, LOOP], "stacks": stacks, "nodes": nodes})


def test_a_node_has_its_frames_the_innermost_last_and_stacks_share_their_beginnings() -> None:
    text = said([[-1, 0], [0, 1], [0, 2]], {"a": 1, "b": 2, "c": 0})
    a, b, c, d = with_stacks([node(name) for name in "abcd"], text)

    assert a.stack == (Place(*OUTER), Place(*INNER))
    assert b.stack == (Place(*OUTER), Place(*LOOP))
    assert c.stack == (Place(*OUTER),)
    assert d.stack == ()


def test_what_makes_no_sense_in_the_record_leaves_a_node_without_a_stack() -> None:
    nodes = [node("a"), node("b"), node("c")]
    assert [one.stack for one in with_stacks(nodes, said([[-1, 9], [5, 0]], {"a": 0, "b": 7, "c": -3}))] == [(), (), ()]
    assert with_stacks(nodes, "no JSON") == tuple(nodes)


def test_a_stack_that_goes_on_and_on_is_cut() -> None:
    text = said([[number - 1, 0] for number in range(1000)], {"a": 199, "b": 999})
    a, b = with_stacks([node("a"), node("b")], text)
    assert len(a.stack) == 200
    assert b.stack == ()


@pytest.mark.parametrize(
    ("stack", "line"),
    [
        ([("/home/m.py", 3), ("/site-packages/layers.py", 9)], 3),
        ([("/site-packages/model.py", 3), ("/site-packages/model.py", 5), ("/site-packages/attention.py", 9)], 5),
        ([("/lib/python3.11/contextlib.py", 4)], 4),
        ([], 7),
    ],
)
def test_a_node_is_from_the_users_innermost_line_then_from_the_models_file(
    stack: list[tuple[str, int]], line: int
) -> None:
    places = tuple(Place(file, at, "attend" if "attention" in file else "forward") for file, at in stack)
    place = replace(node("a"), source=Place("graph.py", 7), stack=places).place
    assert place is not None
    assert place.line == line
