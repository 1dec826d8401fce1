"""The stacks of a graph's nodes, as the worker records them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.report import FxNode, Place
from core.report.records.graphs import StacksRecord

MOST_DEEP = 200


def with_stacks(nodes: Sequence[FxNode], text: str) -> tuple[FxNode, ...]:
    """The nodes with their stacks; as they are where the record cannot be read."""
    try:
        said = decoded_as(text.encode(), StacksRecord)
    except DecodeError:
        return tuple(nodes)
    made: dict[int, tuple[Place, ...]] = {-1: ()}
    for number, (around, frame) in enumerate(said.stacks):
        outer = made.get(around)
        if outer is not None and 0 <= frame < len(said.frames) and len(outer) < MOST_DEEP:
            made[number] = (*outer, Place(*said.frames[frame]))
    return tuple(replace(node, stack=made.get(said.nodes.get(node.name, -1), ())) for node in nodes)
