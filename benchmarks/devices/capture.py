"""Launches of Triton kernels by Inductor's code, each with its features: traffic, loops, config.

The traffic is counted like in Compileboard's log: the elements of an index expression once, never more than the
buffer has, without reads of the kernel's own results and without writes that nothing else needs.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch._inductor.codegen.triton import TritonScheduling
from torch._inductor.dependencies import MemoryDep
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._inductor.virtualized import V

KEPT_META = ("num_load", "num_store", "num_reduction", "atomic_add_found", "grid_type", "tiling_scores", "no_x_dim")


@dataclass(slots=True)
class Capture:
    """Kernels that Inductor defined, with their features, and launches with their arguments."""

    defined: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    launches: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    recording: bool = False

    def features(self, name: str) -> dict[str, Any]:
        """Return the features of the next kernel of this name, in the order of the code."""
        waiting = self.defined.get(name, [])
        return waiting.pop(0) if len(waiting) > 1 else dict(waiting[0]) if waiting else {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[Capture]:
        """Describe every kernel that is defined in this context, and keep launches while `recording`."""
        define, launch = TritonScheduling.define_kernel, CachingAutotuner.run

        def define_kernel(scheduling: Any, source: str, nodes: Any, *rest: Any, **named: Any) -> Any:
            name = define(scheduling, source, nodes, *rest, **named)
            try:
                features = node_features(nodes, {str(buffer) for kernel in rest for buffer in kernel.removed_buffers})
            except Exception as error:
                features = {"problem": f"{type(error).__name__}: {error}"[:200]}
            self.defined.setdefault(str(name), []).append(features)
            return name

        def run(kernel: Any, *args: Any, **named: Any) -> Any:
            if self.recording:
                self.launches.append((kernel, args, named))
            return launch(kernel, *args, **named)

        TritonScheduling.define_kernel, CachingAutotuner.run = define_kernel, run
        try:
            yield self
        finally:
            TritonScheduling.define_kernel, CachingAutotuner.run = define, launch


def kernel_name(kernel: Any) -> str:
    """Return the name of a kernel in the output code."""
    return str(kernel.inductor_meta.get("kernel_name") or kernel.fn.__name__)


def config(kernel: Any) -> dict[str, Any]:
    """Return the config that a kernel is launched with, and what Inductor's code says about it."""
    meta: dict[str, Any] = {key: _plain(kernel.inductor_meta[key]) for key in KEPT_META if key in kernel.inductor_meta}
    meta["heuristic"] = str(kernel.heuristic_type).rpartition(".")[2].lower()
    meta["size_hints"] = _plain(kernel.size_hints)
    meta["reduction_hint"] = str(getattr(kernel, "reduction_hint", "") or "").rpartition(".")[2]
    if kernel.launchers:
        launcher = kernel.launchers[0]
        chosen = launcher.config
        meta["block"] = {key: value for key, value in chosen.kwargs.items() if isinstance(value, int)}
        meta |= {"num_warps": chosen.num_warps, "num_stages": chosen.num_stages}
        meta |= {key: _plain(getattr(launcher, key, None)) for key in ("n_regs", "n_spills", "shared")}
    return meta


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def node_features(node_schedule: Any, removed: set[str]) -> dict[str, Any]:
    """Return the features of a kernel's scheduler nodes: reads, writes that are not removed, loops, ops."""
    schedule = node_schedule if isinstance(node_schedule, list) else [node_schedule]
    nodes = [part for node in schedule if hasattr(node, "get_nodes") for part in node.get_nodes()]
    made = {str(name) for node in nodes for name in node.get_buffer_names()}
    reads: dict[str, dict[Any, int]] = {}
    writes: dict[str, dict[Any, int]] = {}
    indirect = False
    for node in nodes:
        runs = _runs(node)
        for dep in node.read_writes.reads:
            if isinstance(dep, MemoryDep) and str(dep.name) not in made:
                indirect |= dep.is_indirect()
                reads.setdefault(str(dep.name), {})[_key(dep)] = _bytes(dep, runs)
        for dep in node.read_writes.writes:
            if isinstance(dep, MemoryDep):
                writes.setdefault(str(dep.name), {})[_key(dep)] = _bytes(dep, runs)
    gone = removed | {str(name) for name in V.graph.removed_buffers}
    return {
        "reads": [_buffer(name, sum(parts.values())) for name, parts in sorted(reads.items())],
        "writes": [_buffer(name, sum(parts.values())) for name, parts in sorted(writes.items()) if name not in gone],
        "iterations": [_runs(node) for node in nodes],
        "kinds": sorted({type(getattr(node.node, "data", node.node)).__name__ for node in nodes}),
        "rnumel": max((math.prod(_hint(size) for size in node.get_ranges()[1]) for node in nodes), default=1),
        "ops": sorted({str(origin.target) for node in nodes for origin in node.node.get_origins()}),
        "count_of_ops": len({str(origin) for node in nodes for origin in node.node.get_origins()}),
        "indirect": indirect,
    }


def _key(dep: Any) -> Any:
    return str(dep.index), tuple(str(size) for size in dep.size)


def _runs(node: Any) -> int:
    return math.prod(_hint(size) for sizes in node.get_ranges() for size in sizes)


def _hint(size: Any) -> int:
    return int(size) if isinstance(size, int) or size.is_Integer else int(V.graph.sizevars.size_hint(size, fallback=0))


def _bytes(dep: Any, runs: int) -> int:
    """Return the bytes of an access: an element for each iteration, or for each of the index's loops."""
    extents = {str(symbol): _hint(size) for symbol, size in zip(dep.var_names, dep.size, strict=True)}
    used = runs if dep.is_indirect() else math.prod(extents.get(str(symbol), 1) for symbol in dep.index.free_symbols)
    return int(used * V.graph.get_dtype(dep.name).itemsize)


def _buffer(name: str, nbytes: int) -> dict[str, Any]:
    """Return a buffer's layout, and the bytes that the kernel moves of it, at most all."""
    buffer = V.graph.try_get_buffer(name)
    layout = buffer.maybe_get_layout() if buffer is not None else None
    if layout is None:
        return {"bytes": nbytes}
    shape, stride = [_hint(size) for size in layout.size], [_hint(size) for size in layout.stride]
    whole = math.prod(shape) * layout.dtype.itemsize
    dtype = str(layout.dtype).removeprefix("torch.")
    return {"bytes": min(nbytes, whole), "dtype": dtype, "shape": shape, "stride": stride}
