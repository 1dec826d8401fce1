"""Values that a compiled forward really saves for its backward: its last outputs, as Inductor creates them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from torch._guards import TracingContext
from torch._inductor.virtualized import V

from core.report import KeptValue
from core.report.records import Emit
from core.report.records.graphs import KeptRecord

Nodes = list[Any]


def emit_saved_values(emit: Emit, nodes: Nodes) -> Nodes:
    """Record the saved values in Inductor's pass after fusion, when every output has its buffer; returns the nodes."""
    graph = V.graph
    if not graph.is_backward and not graph.is_inference:
        with suppress(AttributeError, AssertionError):
            emit(KeptRecord(graph_id=graph.graph_id, values=tuple(_kept(graph))))
    return nodes


def _kept(graph: Any) -> Iterator[KeptValue]:
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context else None
    if metadata is None:
        return
    saved = metadata.tensors_saved_for_backwards_slice
    returned = next(node for node in graph.graph.nodes if node.op == "output").args[0]
    for node, output in zip(returned[saved], graph.graph_outputs[saved], strict=True):
        buffer = output.get_name()
        kind = "input" if buffer in graph.graph_inputs or buffer in graph.constants else "activation"
        yield KeptValue(node.name, buffer, kind, _bytes(output))


def _bytes(output: Any) -> int | None:
    """None where a symbolic size makes it unknown."""
    elements = 1
    for size in output.get_size():
        if not getattr(size, "is_number", isinstance(size, int)):
            return None
        elements *= int(size)
    return elements * int(output.get_dtype().itemsize)
