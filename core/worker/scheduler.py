"""Inductor's scheduler, recorded: nodes before and after fusion, every decision, and which kernel each node became."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch._inductor.graph import SubgraphLowering
from torch._inductor.ir import ExternKernel
from torch._inductor.virtualized import V

from core.worker.flops import flops
from core.worker.modules import Modules
from core.worker.traffic import Part, iterations, part_of, traffic

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
        self._parts: dict[str, Part] = {}
        self._rounds: list[dict[str, list[Any]]] = []
        self._rejected: set[tuple[str, str, str]] = set()

    def before_fusion(self, nodes: list[Node]) -> list[Node]:
        """Inductor's `_pre_fusion_custom_pass`: remember the nodes, change nothing."""
        order = {node: index for index, node in enumerate(V.graph.graph.nodes)}
        self._parts = {snode.get_name(): part_of(snode) for node in nodes for snode in node.get_nodes()}
        self._before = {node.get_name(): self._described(node, order) for node in nodes}
        self._rounds = []
        self._rejected = set()
        return nodes

    def after_fusion(self, nodes: list[Node]) -> list[Node]:
        """Inductor's `_post_fusion_custom_pass`: write the record, change nothing."""
        before = list(self._before.values())
        after = [self._before.get(node.get_name()) or self._fused(node) for node in nodes]
        self._emit(
            "schedule",
            **current_graph(),
            subgraph=V.graph.name if isinstance(V.graph, SubgraphLowering) else "",
            one_count=True,
            nodes_before=before,
            nodes_after=after,
            rounds=self._rounds,
            buffers=_buffers([*before, *after]),
            modules=self._modules.of(V.graph.graph),
        )
        return nodes

    def _described(self, node: Node, order: dict[Any, int]) -> dict[str, Any]:
        """What the report wants to know of an unfused node."""
        snodes = list(node.get_nodes())
        return {
            "name": node.get_name(),
            "kind": type(node).__name__,
            "nodes": [snode.get_name() for snode in snodes],
            "ops": sorted({name for snode in snodes for name in _ir_kinds(snode)}),
            "origins": _origins(snodes, order),
            "flops": flops(node),
            "iterations": iterations(node),
            "device": str(node.get_device() or ""),
            **self._traffic(node),
        }

    def _fused(self, node: Node) -> dict[str, Any]:
        """A fused node: what it moves as a whole, and the rest from the nodes that it was made of."""
        names = [snode.get_name() for snode in node.get_nodes()]
        parts = [self._before[name] for name in names if name in self._before]
        counted = [part["flops"] for part in parts if part["flops"] is not None]
        return {
            "name": node.get_name(),
            "kind": type(node).__name__,
            "nodes": names,
            "ops": sorted({op for part in parts for op in part["ops"]}),
            "origins": list(dict.fromkeys(origin for part in parts for origin in part["origins"])),
            "flops": sum(counted) if counted else None,
            "iterations": None,
            "device": str(node.get_device() or ""),
            **self._traffic(node),
        }

    def _traffic(self, node: Node) -> dict[str, Any]:
        """Bytes by buffer, from the accesses as they were before fusion, so that both sides are counted alike."""
        parts = [self._parts.get(snode.get_name()) or part_of(snode) for snode in node.get_nodes()]
        found = traffic(parts, node.scheduler)
        return {"reads": found.reads, "writes": found.writes, "at_most": found.at_most}

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


def _ir_kinds(snode: Node) -> list[str]:
    data = getattr(snode.node, "data", None)
    return [type(data if data is not None and not snode.is_extern() else snode.node).__name__]


def _origins(snodes: list[Node], order: dict[Any, int]) -> list[str]:
    """Names of FX nodes, in the order of the graph."""
    found = {origin for snode in snodes if snode.node is not None for origin in _origins_of(snode.node)}
    return [origin.name for origin in sorted(found, key=lambda origin: order.get(origin, -1))]


def _origins_of(ir_node: Any) -> list[Any]:
    """FX nodes of one IR node. An extern kernel's own node is exact; its origins name the producers of its inputs too."""
    exact = ir_node.get_origin_node() if isinstance(ir_node, ExternKernel) else None
    return [exact] if exact is not None else list(ir_node.get_origins())


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
