"""Scheduler nodes in `ir_pre_fusion.txt` and `ir_post_fusion.txt` of a TORCH_COMPILE_DEBUG directory.

torch prints each node with its dependencies, and the nodes of a fused node below it:

    op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)
    op0_op1.writes = [MemoryDep('buf0', c0, {c0: 32}), MemoryDep('buf1', c0, {c0: 32})]
    op0_op1.unmet_dependencies = []
    op0_op1.met_dependencies = [StarDep(name='primals_1', mode=None)]
    op0_op1.snodes[0] =
    op0: SchedulerNode(ComputedBuffer)
    …
    buf0.layout = FixedLayout('cpu', torch.float32, size=[4, 8], stride=[8, 1])      (buf0_layout before torch 2.5)

Bytes are counted from the ranges of the dependencies and the dtypes of layouts and graph inputs. They are no traffic:
a fused node writes buffers here that its kernel keeps in registers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.report.nodes import SHORT_DTYPES, tensor_size

NODE = re.compile(r"^(\w{1,2000}): (\w*SchedulerNode\w*)\((.{0,2000})\)$")
PART = re.compile(r"^\w{1,2000}\.snodes\[\d{1,6}\] =$")
FIELD = re.compile(r"^(\w{1,2000})\.(writes|unmet_dependencies|met_dependencies) =")
DEPENDENCY = re.compile(r"(?:Star|Weak|Memory)Dep\((?:name=)?'(\w{1,200})'([^']{0,2000})")
RANGE = re.compile(r"\w{1,50}: (\d{1,18})\b")
LAYOUT = re.compile(
    r"^\s*(\w{1,200})(?:\.layout|_layout) = \w*Layout\('(\w{1,20}(?::\d{1,4})?)', torch\.(\w{1,30}), "
    r"size=\[([^\]]{0,500})\], stride=\[([^\]]{0,500})\]"
)
INPUT = re.compile(r"\b(\w{1,200}): ?\"([a-z]+\d+)\[([\d, ]{0,500})\]")
# The short name that torch prints in graph code → torch's dtype name.
DTYPES = {short: name for name, short in SHORT_DTYPES.items()}


@dataclass(slots=True)
class _Node:
    name: str
    kind: str
    ir: str
    parts: list[str] = field(default_factory=list)
    reads: dict[str, int | None] = field(default_factory=dict)
    writes: dict[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Layout:
    device: str
    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...] = ()
    is_input: bool = False

    @property
    def elements(self) -> int:
        """Number of elements; 0 for a symbolic size."""
        return math.prod(int(size) if size.isdigit() else 0 for size in self.shape)


def schedule_of(before: str, after: str, graph: str, direction: str) -> dict[str, Any] | None:
    """Return a record of the schedule in two texts; None without nodes.

    `graph` is the text of the graph, which has the dtypes of the inputs.
    """
    nodes_before, nodes_after = list(_nodes(before)), list(_nodes(after))
    if not nodes_before or not nodes_after:
        return None
    layouts = {**_inputs(graph), **_layouts(before), **_layouts(after)}
    used = {buffer for node in (*nodes_before, *nodes_after) for buffer in (*node.reads, *node.writes)}
    return {
        "schema": 1,
        "direction": direction,
        "nodes_before": [_scheduled(node, layouts) for node in nodes_before],
        "nodes_after": [_scheduled(node, layouts) for node in nodes_after],
        "rounds": [],
        "buffers": {name: _buffer(layout) for name, layout in layouts.items() if name in used},
    }


def _nodes(text: str) -> Iterator[_Node]:
    """Yield the nodes of a file, with the names of the nodes in a fused node."""
    node: _Node | None = None
    is_part, target = False, None
    for line in text.split("\n"):
        if header := NODE.match(line):
            if is_part and node is not None:
                node.parts.append(header[1])
            else:
                if node is not None:
                    yield node
                node = _Node(header[1], header[2], header[3])
            is_part, target = False, None
            continue
        is_part = bool(PART.match(line)) or (is_part and not line)
        if node is None:
            continue
        if field_ := FIELD.match(line):
            own = field_[1] == node.name
            target = None if not own else node.writes if field_[2] == "writes" else node.reads
        elif not line.startswith(" "):
            target = None
        if target is not None:
            target.update((name, _elements(rest)) for name, rest in DEPENDENCY.findall(line))
    if node is not None:
        yield node


def _elements(text: str) -> int | None:
    """Return the number of elements of a dependency on a range; None for a dependency on the whole buffer."""
    sizes = RANGE.findall(text)
    return math.prod(map(int, sizes)) if sizes else None


def _layouts(text: str) -> dict[str, _Layout]:
    matches = (match for line in text.split("\n") if (match := LAYOUT.match(line)))
    return {match[1]: _Layout(match[2], match[3], _sizes(match[4]), _sizes(match[5])) for match in matches}


def _inputs(graph: str) -> dict[str, _Layout]:
    signature = graph.partition("def forward(")[2].partition("\n")[0]
    return {
        name: _Layout("", DTYPES.get(dtype, dtype), _sizes(shape), is_input=True)
        for name, dtype, shape in INPUT.findall(signature)
    }


def _sizes(text: str) -> tuple[str, ...]:
    return tuple(size.strip() for size in text.split(",") if size.strip())


def _scheduled(node: _Node, layouts: Mapping[str, _Layout]) -> dict[str, Any]:
    devices = (layouts[buffer].device for buffer in (*node.writes, *node.reads) if buffer in layouts)
    return {
        "name": node.name,
        "kind": node.kind,
        "nodes": node.parts or [node.name],
        "ops": [kind.strip() for kind in node.ir.split(",") if kind.strip()],
        "reads": {buffer: _bytes(buffer, elements, layouts) for buffer, elements in node.reads.items()},
        "writes": {buffer: _bytes(buffer, elements, layouts) for buffer, elements in node.writes.items()},
        "at_most": [],
        "origins": [],
        "flops": None,
        "device": next(filter(None, devices), ""),
    }


def _bytes(buffer: str, elements: int | None, layouts: Mapping[str, _Layout]) -> int:
    layout = layouts.get(buffer)
    if layout is None:
        return 0
    count = layout.elements if elements is None else elements
    known = tensor_size(SHORT_DTYPES.get(layout.dtype, layout.dtype), (str(count),))
    return count if known is None else known


def _buffer(layout: _Layout) -> dict[str, Any]:
    return {
        "dtype": layout.dtype,
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "input": layout.is_input,
        "output": False,
    }
