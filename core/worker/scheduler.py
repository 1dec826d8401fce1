"""Inductor's scheduler, recorded: nodes before and after fusion, every decision, and which kernel each node became."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch._dynamo.utils import counters
from torch._inductor.fx_utils import count_flops_fx
from torch._inductor.ir import ExternKernel
from torch._inductor.virtualized import V

from core.worker.modules import Modules

Emit = Callable[..., None]
Node = Any
MAX_REJECTIONS = 20_000
KERNEL_MODULES = (
    "torch._inductor.debug",
    "torch._inductor.codegen.triton",
    "torch._inductor.codegen.cpp",
    "torch._inductor.scheduler",
)
KERNEL_HOOK = "set_kernel_post_grad_provenance_tracing"


class ScheduleRecorder(logging.Handler):
    """Listens to the fusion log and to Inductor's two custom passes around fusion; emits one record a graph."""

    def __init__(self, emit: Emit, modules: Modules) -> None:
        super().__init__(logging.DEBUG)
        self._emit = emit
        self._modules = modules
        self._before: dict[str, dict[str, Any]] = {}
        self._rounds: list[dict[str, list[Any]]] = []
        self._rejected: set[tuple[str, str, str]] = set()

    def before_fusion(self, nodes: list[Node]) -> list[Node]:
        """Inductor's `_pre_fusion_custom_pass`: remember the nodes, change nothing."""
        order = {node: index for index, node in enumerate(V.graph.graph.nodes)}
        self._before = {node.get_name(): _described(node, order) for node in nodes}
        self._rounds = []
        self._rejected = set()
        return nodes

    def after_fusion(self, nodes: list[Node]) -> list[Node]:
        """Inductor's `_post_fusion_custom_pass`: write the record, change nothing."""
        before = list(self._before.values())
        after = [self._before.get(node.get_name()) or _fused(node, self._before) for node in nodes]
        self._emit(
            "schedule",
            **current_graph(),
            nodes_before=before,
            nodes_after=after,
            rounds=self._rounds,
            buffers=_buffers([*before, *after]),
            modules=self._modules.of(V.graph.graph),
        )
        return nodes

    def emit(self, record: logging.LogRecord) -> None:
        """Take one line of the fusion log (a logging.Handler's one duty)."""
        message = record.msg
        if isinstance(message, str):
            if message.startswith("===== attempting fusion"):
                self._rounds.append({"fused": [], "rejected": []})
            elif message.startswith("fusing %s with %s") and self._rounds and isinstance(record.args, tuple):
                self._rounds[-1]["fused"].append([str(argument) for argument in record.args[:2]])
        elif hasattr(message, "reason") and self._rounds:
            self._reject(message)

    def _reject(self, why: Any) -> None:
        """Keep each refusal once a graph; its text is put together only then, since symbols print slowly."""
        key = (why.name1, why.name2, why.reason)
        if key not in self._rejected and len(self._rejected) < MAX_REJECTIONS:
            self._rejected.add(key)
            self._rounds[-1]["rejected"].append([why.name1, why.name2, why.reason % why.args])

    @contextmanager
    def watching_kernels(self) -> Iterator[None]:
        """Record each kernel with the scheduler nodes behind it, as Inductor's provenance hook sees it."""
        modules = [importlib.import_module(name) for name in KERNEL_MODULES]
        hooked = [module for module in modules if hasattr(module, KERNEL_HOOK)]
        originals = [getattr(module, KERNEL_HOOK) for module in hooked]

        def hook(node_schedule: Any, kernel_name: str, is_extern: bool = False) -> int | None:
            handle: int | None = originals[0](node_schedule, kernel_name, is_extern)
            nodes = _scheduled(node_schedule)
            self._emit("kernel", **current_graph(), name=kernel_name, handle=handle, nodes=nodes, extern=is_extern)
            return handle

        for module in hooked:
            setattr(module, KERNEL_HOOK, hook)
        try:
            yield
        finally:
            for module, original in zip(hooked, originals, strict=True):
                setattr(module, KERNEL_HOOK, original)


def current_graph() -> dict[str, Any]:
    """Number and direction of the graph that Inductor lowers at the moment."""
    graph = V.graph
    direction = "backward" if graph.is_backward else "inference" if graph.is_inference else "forward"
    return {"graph_id": graph.graph_id, "direction": direction}


def _scheduled(node_schedule: Any) -> list[str]:
    """Names of the scheduler nodes behind a kernel; for an extern kernel, of its one operation."""
    if not isinstance(node_schedule, list):
        return [name] if (name := getattr(node_schedule, "operation_name", None)) else []
    return [node.get_name() for node in node_schedule if hasattr(node, "get_name")]


def _described(node: Node, order: dict[Any, int]) -> dict[str, Any]:
    """What the report wants to know of an unfused node; sizes in bytes, as Inductor counts them."""
    snodes = list(node.get_nodes())
    return {
        "name": node.get_name(),
        "kind": type(node).__name__,
        "nodes": [snode.get_name() for snode in snodes],
        "ops": sorted({name for snode in snodes for name in _ir_kinds(snode)}),
        "reads": _accesses(node, reads=True),
        "writes": _accesses(node, reads=False),
        "origins": _origins(snodes, order),
        "flops": _flops(node),
        "device": str(node.get_device() or ""),
    }


def _fused(node: Node, before: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A fused node: its own memory accesses, and the rest from the nodes that it was made of."""
    names = [snode.get_name() for snode in node.get_nodes()]
    parts = [before[name] for name in names if name in before]
    flops = [part["flops"] for part in parts if part["flops"] is not None]
    return {
        "name": node.get_name(),
        "kind": type(node).__name__,
        "nodes": names,
        "ops": sorted({op for part in parts for op in part["ops"]}),
        "reads": _accesses(node, reads=True),
        "writes": _accesses(node, reads=False),
        "origins": list(dict.fromkeys(origin for part in parts for origin in part["origins"])),
        "flops": sum(flops) if flops else None,
        "device": str(node.get_device() or ""),
    }


def _ir_kinds(snode: Node) -> list[str]:
    data = getattr(snode.node, "data", None)
    return [type(data if data is not None and not snode.is_extern() else snode.node).__name__]


def _accesses(node: Node, reads: bool) -> dict[str, int]:
    """Bytes by buffer; a dependency whose bytes Inductor does not count (a tuple, an order) has none."""
    names = {str(dep.name) for dep in node.read_writes.reads} if reads else set(map(str, node.get_buffer_names()))
    accesses = node.get_read_write_buffer_accesses(include_reads=reads, include_writes=not reads)
    return {**dict.fromkeys(sorted(names), 0), **{str(name): int(size) for name, size in accesses.items()}}


def _origins(snodes: list[Node], order: dict[Any, int]) -> list[str]:
    """Names of FX nodes, in the order of the graph."""
    found = {origin for snode in snodes if snode.node is not None for origin in _origins_of(snode.node)}
    return [origin.name for origin in sorted(found, key=lambda origin: order.get(origin, -1))]


def _origins_of(ir_node: Any) -> list[Any]:
    """FX nodes of one IR node. An extern kernel's own node is exact; its origins name the producers of its inputs too."""
    exact = ir_node.get_origin_node() if isinstance(ir_node, ExternKernel) else None
    return [exact] if exact is not None else list(ir_node.get_origins())


def _flops(node: Node) -> int | None:
    """Torch's estimate, which it has for library calls and templates; its own counter of them stays as it is."""
    if not (node.is_extern() or node.is_template()):
        return None
    counted = counters["inductor"]["flop_count"]
    flops = node.estimate_flops()
    counters["inductor"]["flop_count"] = counted
    flops = _flops_of_call(node.node) if flops is None else flops
    return int(flops) if flops is not None else None


def _flops_of_call(ir_node: Any) -> int | None:
    """Torch's count for a library call with several results (attention), which has no FX node of its own to estimate by."""
    called = getattr(ir_node, "op_overload", None)
    found = [origin for origin in ir_node.get_origins() if origin.target == called] if called is not None else []
    try:
        return count_flops_fx(found[0]) if len(found) == 1 else None
    except AssertionError:
        # The counter knows no grouped heads, whose keys have other shapes than their queries.
        return None


def _buffers(nodes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = {name for node in nodes for side in ("reads", "writes") for name in node[side]}
    return {name: described for name in sorted(names) if (described := _buffer(name))}


def _buffer(name: str) -> dict[str, Any] | None:
    buffer = V.graph.try_get_buffer(name)
    layout = buffer.maybe_get_layout() if buffer is not None else None
    if layout is None or not hasattr(layout, "size"):
        return None
    return {
        "dtype": str(layout.dtype).removeprefix("torch."),
        "shape": [str(size) for size in layout.size],
        "stride": [str(stride) for stride in layout.stride],
        "input": name in V.graph.graph_inputs,
        "output": name in V.graph.get_output_names(),
    }
