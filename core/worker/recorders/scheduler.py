"""Recorder of Inductor's scheduler: nodes, fusion decisions, and the nodes of each kernel.

Nodes are recorded before and after fusion. FLOPs of library calls and templates come from torch's formulas,
or from `attention_flops`.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from torch._inductor.graph import SubgraphLowering
from torch._inductor.ir import ExternKernel
from torch._inductor.virtualized import V
from torch.fx import Node as FxNode
from torch.fx.node import map_arg
from torch.utils.flop_counter import flop_registry

from core.ops.costs import op_class
from core.report import FusionRound
from core.report.nodes import Direction
from core.report.records import Emit
from core.report.records.compilation import BufferLayout, KernelRecord, ScheduledNode, ScheduleRecord
from core.worker.recorders.eager import eager_calls
from core.worker.recorders.stacks import Modules
from core.worker.recorders.traffic import NodeTraffic, Part, hint, iterations, part_of, traffic

Node = Any
MAX_REJECTIONS = 20_000  #: limit: rejected fusions of a graph
KERNEL_MODULES = (
    "torch._inductor.debug",
    "torch._inductor.codegen.triton",
    "torch._inductor.codegen.cpp",
    "torch._inductor.scheduler",
)
FUSION_LOGGER = "torch._inductor.scheduler.__fusion"
KERNEL_HOOK = "set_kernel_post_grad_provenance_tracing"


@dataclass(slots=True)
class Round:
    """A fusion round of the scheduler over all pairs, in progress."""

    fused: list[tuple[str, str]] = field(default_factory=list)
    rejected: list[tuple[str, str, str]] = field(default_factory=list)


class ScheduleRecorder(logging.Handler):
    """Handler of the fusion log and of Inductor's two custom passes around fusion.

    Emits one record per graph.
    """

    def __init__(self, emit: Emit, modules: Modules) -> None:
        super().__init__(logging.DEBUG)
        self._emit = emit
        self._modules = modules
        self._before: dict[str, ScheduledNode] = {}
        self._parts: dict[str, Part] = {}
        self._rounds: list[Round] = []
        self._rejected: set[tuple[str, str, str]] = set()

    def before_fusion(self, nodes: list[Node]) -> list[Node]:
        """Record the nodes and return them unchanged; set as Inductor's `_pre_fusion_custom_pass`."""
        order = {node: index for index, node in enumerate(V.graph.graph.nodes)}
        self._parts = {snode.get_name(): part_of(snode) for node in nodes for snode in node.get_nodes()}
        flops = FlopCounts()
        self._before = {node.get_name(): self._described(node, order, flops) for node in nodes}
        self._rounds = []
        self._rejected = set()
        return nodes

    def after_fusion(self, nodes: list[Node]) -> list[Node]:
        """Emit the graph's record; return the nodes unchanged. Set as `_post_fusion_custom_pass`."""
        graph_id, direction = current_graph()
        before = tuple(self._before.values())
        after = tuple(self._before.get(node.get_name()) or self._fused(node) for node in nodes)
        self._emit(
            ScheduleRecord(
                graph_id=graph_id,
                direction=direction,
                subgraph=V.graph.name if isinstance(V.graph, SubgraphLowering) else "",
                one_count=True,
                nodes_before=before,
                nodes_after=after,
                rounds=tuple(FusionRound(tuple(found.fused), tuple(found.rejected)) for found in self._rounds),
                buffers=_buffers([*before, *after]),
                modules=self._modules.of(V.graph.graph),
                eager_calls=eager_calls(V.graph.graph, backward=direction == "backward"),
            )
        )
        return nodes

    def _described(self, node: Node, order: dict[Any, int], flops: FlopCounts) -> ScheduledNode:
        """Return the recorded data of an unfused node."""
        snodes = list(node.get_nodes())
        moved = self._traffic(node)
        return ScheduledNode(
            name=node.get_name(),
            kind=type(node).__name__,
            nodes=tuple(snode.get_name() for snode in snodes),
            ops=tuple(sorted({name for snode in snodes for name in _ir_kinds(snode)})),
            reads=moved.reads,
            writes=moved.writes,
            at_most=tuple(moved.at_most),
            origins=_origins(snodes, order),
            flops=flops.of(node),
            iterations=iterations(node),
            device=str(node.get_device() or ""),
        )

    def _fused(self, node: Node) -> ScheduledNode:
        """Return a fused node with its own traffic, and the other data from its unfused nodes."""
        names = [snode.get_name() for snode in node.get_nodes()]
        parts = [self._before[name] for name in names if name in self._before]
        counted = [part.flops for part in parts if part.flops is not None]
        moved = self._traffic(node)
        return ScheduledNode(
            name=node.get_name(),
            kind=type(node).__name__,
            nodes=tuple(names),
            ops=tuple(sorted({op for part in parts for op in part.ops})),
            reads=moved.reads,
            writes=moved.writes,
            at_most=tuple(moved.at_most),
            origins=tuple(dict.fromkeys(origin for part in parts for origin in part.origins)),
            flops=sum(counted) if counted else None,
            device=str(node.get_device() or ""),
        )

    def _traffic(self, node: Node) -> NodeTraffic:
        """Return the bytes by buffer, from accesses before fusion, as for unfused nodes."""
        parts = [self._parts.get(snode.get_name()) or part_of(snode) for snode in node.get_nodes()]
        return traffic(parts, node.scheduler)

    def emit(self, record: logging.LogRecord) -> None:
        """Handle one line of the fusion log (required by logging.Handler)."""
        message = record.msg
        if isinstance(message, str):
            if message.startswith("===== attempting fusion"):
                self._rounds.append(Round())
            elif message.startswith("fusing %s with %s") and self._rounds and isinstance(record.args, tuple):
                one, other = record.args[:2]
                self._rounds[-1].fused.append((str(one), str(other)))
        elif hasattr(message, "reason") and self._rounds:
            self._reject(message)

    def _reject(self, why: Any) -> None:
        """Record a fusion refusal once per graph; format its text only then, since symbols print slowly."""
        key = (why.name1, why.name2, why.reason)
        if key not in self._rejected and len(self._rejected) < MAX_REJECTIONS:
            self._rejected.add(key)
            self._rounds[-1].rejected.append((why.name1, why.name2, why.reason % why.args))

    @contextmanager
    def watching_fusions(self, *, passed_on: bool) -> Iterator[None]:
        """Handle the fusion log in this context.

        With `passed_on`, messages that TORCH_LOGS enables are also passed on to other handlers. Enter the context
        after torch's logs are set, because `set_logs` resets every logger.
        """
        logger = logging.getLogger(FUSION_LOGGER)
        logger.propagate = passed_on and logger.propagate and logger.isEnabledFor(logging.DEBUG)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)
        try:
            yield
        finally:
            logger.removeHandler(self)

    @contextmanager
    def watching_kernels(self) -> Iterator[None]:
        """Record each kernel with its scheduler nodes, from Inductor's provenance hook."""
        modules = [importlib.import_module(name) for name in KERNEL_MODULES]
        hooked = [module for module in modules if hasattr(module, KERNEL_HOOK)]
        originals = [getattr(module, KERNEL_HOOK) for module in hooked]

        def hook(node_schedule: Any, kernel_name: str, is_extern: bool = False) -> int | None:
            handle: int | None = originals[0](node_schedule, kernel_name, is_extern)
            graph_id, direction = current_graph()
            self._emit(
                KernelRecord(
                    graph_id=graph_id,
                    direction=direction,
                    name=kernel_name,
                    handle=handle,
                    nodes=_scheduled(node_schedule),
                    extern=is_extern,
                )
            )
            return handle

        for module in hooked:
            setattr(module, KERNEL_HOOK, hook)
        try:
            yield
        finally:
            for module, original in zip(hooked, originals, strict=True):
                setattr(module, KERNEL_HOOK, original)


def current_graph() -> tuple[int, Direction]:
    """Return the number and direction of the graph that Inductor is lowering."""
    graph = V.graph
    return graph.graph_id, "backward" if graph.is_backward else "inference" if graph.is_inference else "forward"


def _scheduled(node_schedule: Any) -> tuple[str, ...]:
    """Return the names of a kernel's scheduler nodes; for an extern kernel, of its single operation."""
    if not isinstance(node_schedule, list):
        return (name,) if (name := getattr(node_schedule, "operation_name", None)) else ()
    return tuple(node.get_name() for node in node_schedule if hasattr(node, "get_name"))


def _ir_kinds(snode: Node) -> list[str]:
    data = getattr(snode.node, "data", None)
    return [type(data if data is not None and not snode.is_extern() else snode.node).__name__]


def _origins(snodes: list[Node], order: dict[Any, int]) -> tuple[str, ...]:
    """Return the names of FX nodes, in graph order.

    In a nested graph, torch also names the nodes around its call, which may have the names of its own nodes.
    """
    found = {origin for snode in snodes if snode.node is not None for origin in _origins_of(snode.node)}
    if isinstance(V.graph, SubgraphLowering):
        found = {origin for origin in found if origin in order} or found
    return tuple(origin.name for origin in sorted(found, key=lambda origin: order.get(origin, -1)))


def _origins_of(ir_node: Any) -> list[Any]:
    """Return the FX nodes of one IR node.

    An extern kernel has an exact node; its origins also include the producers of its inputs.
    """
    exact = ir_node.get_origin_node() if isinstance(ir_node, ExternKernel) else None
    return [exact] if exact is not None else list(ir_node.get_origins())


def _buffers(nodes: list[ScheduledNode]) -> dict[str, BufferLayout]:
    names = {name for node in nodes for name in (*node.reads, *node.writes)}
    return {name: described for name in sorted(names) if (described := _buffer(name))}


def _buffer(name: str) -> BufferLayout | None:
    buffer = V.graph.try_get_buffer(name)
    layout = buffer.maybe_get_layout() if buffer is not None else None
    if layout is None or not hasattr(layout, "size"):
        return None
    return BufferLayout(
        dtype=str(layout.dtype).removeprefix("torch."),
        shape=tuple(str(size) for size in layout.size),
        stride=tuple(str(stride) for stride in layout.stride),
        input=name in V.graph.graph_inputs,
        output=name in V.graph.get_output_names(),
    )


class FlopCounts:
    """FLOPs of the scheduler nodes of one graph; the FLOPs of identical calls are computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int | None] = {}

    def of(self, node: Node) -> int | None:
        """Return the FLOPs of a library call or a template; None for any other node."""
        if node.node is None or not (node.is_extern() or node.is_template()):
            return None
        fx_node = node.node.get_origin_node()
        if fx_node is None:
            return _of_call(node.node)
        alike = (fx_node.target, *map(_form, (*fx_node.args, *fx_node.kwargs.items())))
        if alike not in self._known:
            self._known[alike] = _counted(fx_node)
        return self._known[alike]


def _form(argument: Any) -> str:
    """Return a key for the FLOPs of a call: a tensor's shape, any other argument itself."""
    if not isinstance(argument, FxNode):
        return str(map_arg(argument, _form))
    value = argument.meta.get("val")
    return str(tuple(value.shape) if hasattr(value, "shape") else value)


def _counted(fx_node: FxNode) -> int | None:
    """Return the FLOPs of an op by torch's formula for the tensors in the metadata; None if it fails."""
    formula = flop_registry.get(getattr(fx_node.target, "overloadpacket", fx_node.target))
    if formula is None or any("val" not in part.meta for part in (fx_node, *fx_node.all_input_nodes)):
        return None
    args, kwargs = map_arg((fx_node.args, fx_node.kwargs), lambda part: part.meta["val"])
    # A formula may be user code.
    with suppress(Exception):
        return _size(formula(*args, **kwargs, out_val=fx_node.meta["val"]))
    return None


def _of_call(ir_node: Any) -> int | None:
    """Return the FLOPs of a call without a single FX node, such as attention with several results."""
    called = getattr(ir_node, "op_overload", None)
    found = [origin for origin in ir_node.get_origins() if origin.target == called] if called is not None else []
    if len(found) != 1:
        return None
    return attention_flops(found[0]) if op_class(str(called)) == "attention" else _counted(found[0])


def attention_flops(fx_node: Any) -> int | None:
    """Return the FLOPs of attention: two matmuls per query head, or five in the backward.

    Masks are ignored. None unless queries, keys and values have four dimensions. The formula is that of
    torch.utils.flop_counter.sdpa_flop_count and sdpa_backward_flop_count, which don't support the CPU's kernel.
    """
    backward = "backward" in str(fx_node.target)
    tensors: list[Any] = [getattr(item, "meta", {}).get("val") for item in fx_node.args[backward : 3 + backward]]
    shapes = [tuple(map(_size, tensor.shape)) for tensor in tensors if hasattr(tensor, "shape")]
    if len(shapes) != 3 or any(len(shape) != 4 for shape in shapes):
        return None
    (*heads, queries, width), (*_, keys, _), (*_, values) = shapes
    each = 3 * width + 2 * values if backward else width + values
    return 2 * math.prod(heads) * queries * keys * each


def _size(size: Any) -> int:
    return hint(size if isinstance(size, int) else size.node.expr)
