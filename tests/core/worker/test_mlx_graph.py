"""Graphs of MLX as it exports them in DOT."""

import pytest

from core.report import LazyNode

pytestmark = pytest.mark.torch
SIN_COS = """digraph {
{ rank=source; "A"; }
{ 94622713285632 [label ="Sin", shape=rectangle]; }
"A" -> 94622713285632
{ "B"; }
94622713285632 -> "B"
{ 94622710697232 [label ="Cos", shape=rectangle]; }
"A" -> 94622710697232
{ "C"; }
94622710697232 -> "C"
{ 94622711154256 [label ="Add", shape=rectangle]; }
"B" -> 94622711154256
"C" -> 94622711154256
{ rank=sink; "D"; }
94622711154256 -> "D"
}
"""


def test_primitives_are_read_in_order_with_what_they_read() -> None:
    from core.worker.neighbours.stage import graph_of_dot

    assert graph_of_dot(SIN_COS) == (LazyNode("Sin"), LazyNode("Cos"), LazyNode("Add", (0, 1)))
    assert graph_of_dot('digraph {\n{ rank=source; "A"; }\n}\n') == ()
