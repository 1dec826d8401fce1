"""Graphviz's dot, in a process that is killed at its time limit."""

import sys
from collections.abc import Sequence
from typing import Any

from core.base.decoder import decoded
from core.graph.layout.dot_server import DotError, dot_server
from core.graph.layout.model import Box, BoxPlace, Curve, Edge, Layout, Point

POINTS_PER_INCH = 72
LIMITS = "nslimit=1 nslimit1=1 mclimit=0.3"


def lay_out_with_dot(boxes: Sequence[Box], edges: Sequence[Edge], budget_s: float, limited: bool) -> Layout:
    """Lay out with dot; `limited` bounds its network simplex, for graphs on which the default takes minutes."""
    answer = dot_server(sys.executable).ask(_dot_text(boxes, edges, limited), budget_s)
    return _read(decoded(answer), boxes, edges, "dot, limited" if limited else "dot")


def _dot_text(boxes: Sequence[Box], edges: Sequence[Edge], limited: bool) -> str:
    """Return the graph in DOT with boxes named n0, n1 …: no external text ever reaches Graphviz's language."""
    number = {box.id: index for index, box in enumerate(boxes)}
    lines = [
        "digraph {",
        f"graph [rankdir=TB nodesep=0.28 ranksep=0.42 {LIMITS if limited else ''}]",
        'node [shape=box fixedsize=true label=""]',
        "edge [dir=none]",
    ]
    for index, box in enumerate(boxes):
        lines.append(f"n{index} [width={box.width / POINTS_PER_INCH:.4f} height={box.height / POINTS_PER_INCH:.4f}]")
    for index, edge in enumerate(edges):
        lines.append(f"n{number[edge.source]} -> n{number[edge.target]} [id={index}]")
    return "\n".join([*lines, "}"])


def _read(answer: Any, boxes: Sequence[Box], edges: Sequence[Edge], engine: str) -> Layout:
    """Convert Graphviz's points (y up, node centres) into pixels (y down, top-left corners)."""
    _, _, width, height = (float(part) for part in answer["bb"].split(","))
    placed: list[BoxPlace | None] = [None] * len(boxes)
    for node in answer.get("objects", ()):
        index = int(node["name"][1:])
        x, y = _flipped_point(node["pos"], height)
        box = boxes[index]
        placed[index] = BoxPlace(box.id, round(x - box.width / 2, 1), round(y - box.height / 2, 1))
    curves: list[Curve] = [()] * len(edges)
    for edge in answer.get("edges", ()):
        curves[int(edge["id"])] = tuple(_flipped_point(pair, height) for pair in edge["pos"].split())
    complete = tuple(place for place in placed if place is not None)
    if len(complete) != len(boxes) or not all(curves):
        raise DotError("dot left out a part of the graph")
    return Layout(complete, tuple(curves), round(width, 1), round(height, 1), engine, "")


def _flipped_point(pair: str, height: float) -> Point:
    x, y = pair.split(",")
    return round(float(x), 1), round(height - float(y), 1)
