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
    """Return the nodes with their stacks, or unchanged if the record cannot be read."""
    try:
        record = decoded_as(text.encode(), StacksRecord)
    except DecodeError:
        return tuple(nodes)
    stacks: dict[int, tuple[Place, ...]] = {-1: ()}
    for number, (around, frame) in enumerate(record.stacks):
        outer = stacks.get(around)
        if outer is not None and 0 <= frame < len(record.frames) and len(outer) < MOST_DEEP:
            stacks[number] = (*outer, Place(*record.frames[frame]))
    return tuple(replace(node, stack=stacks.get(record.nodes.get(node.name, -1), ())) for node in nodes)
