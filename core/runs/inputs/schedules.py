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

The kernel of a node is the first call in the output code that names a buffer of the node. With torch's provenance
tracking, the FX nodes of the call are known, but not which of them each node of a fused node computes.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.base.decoder import decoded
from core.base.errors import DecodeError
from core.code.output_code import FoundKernel, find_kernels
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
NAME = re.compile(r"\w+")
MOST_CALL_CHARS = 20_000  #: characters of a call in the output code that are searched for buffers
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


@dataclass(frozen=True, slots=True)
class _Call:
    kernel: FoundKernel
    handle: int | None
    origins: tuple[str, ...]


def schedule_of(
    before: str, after: str, graph: str, direction: str, code: str = "", mappings: str = ""
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return records of the schedule in two texts and of its kernels; none without nodes.

    `graph` is the text of the graph, which has the dtypes of the inputs. `code` is the output code, and `mappings` the
    text of torch's provenance maps.
    """
    nodes_before, nodes_after = list(_nodes(before)), list(_nodes(after))
    if not nodes_before or not nodes_after:
        return None, []
    called = _calls(nodes_after, code, mappings)
    call_of = {part: call for node, call in called for part in (node.name, *node.parts)}
    kernels: dict[tuple[str, int | None], dict[str, Any]] = {}
    for node, call in called:
        kernel = call.kernel
        record = kernels.setdefault(
            (kernel.name, call.handle),
            {"schema": 1, "direction": direction, "name": kernel.name, "handle": call.handle, "nodes": [],
             "extern": kernel.extern},
        )  # fmt: skip
        record["nodes"] += node.parts or [node.name]
    layouts = {**_inputs(graph), **_layouts(before), **_layouts(after)}
    used = {buffer for node in (*nodes_before, *nodes_after) for buffer in (*node.reads, *node.writes)}
    schedule = {
        "schema": 1,
        "direction": direction,
        "nodes_before": [_scheduled(node, layouts, call_of.get(node.name)) for node in nodes_before],
        "nodes_after": [_scheduled(node, layouts, call_of.get(node.name)) for node in nodes_after],
        "rounds": [],
        "buffers": {name: _buffer(layout) for name, layout in layouts.items() if name in used},
    }
    return schedule, list(kernels.values())


def _calls(nodes: list[_Node], code: str, mappings: str) -> list[tuple[_Node, _Call]]:
    """Return the final nodes with a buffer in a kernel call, each with its first such call."""
    origins = _origins(mappings)
    lines, calls = code.split("\n"), []
    for kernel in find_kernels(code):
        handles = kernel.handles if len(kernel.handles) == len(kernel.calls) else [None] * len(kernel.calls)
        for line, handle in zip(kernel.calls, handles, strict=True):
            known = origins.get(f"{kernel.name}:{handle}", kernel.origins)
            calls.append((line, _Call(kernel, handle, known)))
    first: dict[str, int] = {}
    calls.sort(key=lambda call: call[0])
    for index, (line, _) in enumerate(calls):
        for name in NAME.findall(lines[line - 1][:MOST_CALL_CHARS]):
            first.setdefault(name, index)
    places = ((node, [first[buffer] for buffer in node.writes if buffer in first]) for node in nodes)
    return [(node, calls[min(indexes)][1]) for node, indexes in places if indexes]


def _origins(mappings: str) -> dict[str, tuple[str, ...]]:
    """Return call (`NAME:HANDLE`) → FX nodes of the lowered graph; empty for an unreadable text."""
    try:
        data = decoded(mappings) if mappings else None
    except DecodeError:
        return {}
    known = data.get("cppCodeToPost") if isinstance(data, dict) else None
    listed = known.items() if isinstance(known, dict) else ()
    return {call: tuple(map(str, names)) for call, names in listed if isinstance(names, list)}


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


def _scheduled(node: _Node, layouts: Mapping[str, _Layout], call: _Call | None) -> dict[str, Any]:
    devices = (layouts[buffer].device for buffer in (*node.writes, *node.reads) if buffer in layouts)
    return {
        "name": node.name,
        "kind": node.kind,
        "nodes": node.parts or [node.name],
        "ops": [kind.strip() for kind in node.ir.split(",") if kind.strip()],
        "reads": {buffer: _bytes(buffer, elements, layouts) for buffer, elements in node.reads.items()},
        "writes": {buffer: _bytes(buffer, elements, layouts) for buffer, elements in node.writes.items()},
        "at_most": [],
        "origins": list(call.origins) if call else [],
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
