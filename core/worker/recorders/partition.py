"""Recorders of AOTAutograd's min-cut partitioner, of saved values, and of autotuning."""

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import torch
from torch._functorch import partitioners
from torch._guards import TracingContext
from torch._inductor import compile_fx
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._inductor.select_algorithm import AlgorithmSelectorCache
from torch._inductor.virtualized import V
from torch.fx import GraphModule, Node

from core.report import Autotuning, Choice, Decision, KeptValue, SavedValue
from core.report.records import Emit
from core.report.records.compilation import KeptRecord, PartitionRecord

PARTITION = "min_cut_rematerialization_partition"
Nodes = list[Any]


@contextmanager
def watching_partition(emit: Emit, subgraph: Callable[[GraphModule], str]) -> Iterator[None]:
    """Record each call of the partitioner by Inductor; `subgraph` returns the name of a nested graph."""
    original = getattr(compile_fx, PARTITION, None)
    if original is None:
        yield
        return

    def partition(joint: GraphModule, *args: Any, **kwargs: Any) -> tuple[GraphModule, GraphModule]:
        before = [node.name for node in joint.graph.nodes]
        with _watching_cuts() as cuts:
            forward, backward = original(joint, *args, **kwargs)
        emit(_described(subgraph(joint), joint, before, forward, backward, cuts[-1] if cuts else None))
        return forward, backward

    with patch.object(compile_fx, PARTITION, partition):
        yield


@contextmanager
def _watching_cuts() -> Iterator[list[Any]]:
    """Collect the networks that torch cuts in this context: only their edges have torch's reasons."""
    # Torch 2.15 has its own minimum cut. NetworkX is imported only if there is a graph to cut: it takes 0.25 s.
    cutter = partitioners if hasattr(partitioners, "minimum_cut") else importlib.import_module("networkx")
    original = cutter.minimum_cut
    cuts: list[Any] = []

    def minimum_cut(network: Any, *args: Any, **kwargs: Any) -> Any:
        cuts.append(network)
        return original(network, *args, **kwargs)

    with patch.object(cutter, "minimum_cut", minimum_cut):
        yield cuts


def _described(
    subgraph: str, joint: GraphModule, before: list[str], forward: GraphModule, backward: GraphModule, network: Any
) -> PartitionRecord:
    sides = [{node.name: node.op for node in side.graph.nodes} for side in (forward, backward)]
    nodes = [node for node in joint.graph.nodes if node.op != "output"]
    kept = {node.name for node in nodes}
    decisions = {node.name: decision for node in nodes if (decision := _decision(node, *sides))}
    saved = [_saved(node) for node in nodes if decisions.get(node.name) == "saved"]
    return PartitionRecord(
        subgraph=subgraph,
        decisions=decisions,
        saved=tuple(saved),
        reasons=_reasons(network),
        policies={node.name: str(policy) for node in nodes if (policy := _policy(node))},
        dropped=tuple(name for name in before if name not in kept and name != "output"),
    )


def _decision(node: Node, forward: dict[str, str], backward: dict[str, str]) -> Decision | None:
    """Return the partitioner's decision for a node; None if the node is in neither graph.

    A node in both graphs is saved if it is an input of the backward, otherwise recomputed.
    """
    if node.name not in forward:
        return "backward" if node.name in backward else None
    if node.name not in backward:
        return "forward"
    return "saved" if backward[node.name] == "placeholder" else "recomputed"


def _saved(node: Node) -> SavedValue:
    kind = "input" if node.op == "placeholder" else "activation"
    value = node.meta.get("val")
    kind = kind if isinstance(value, torch.Tensor) else "symbol" if isinstance(value, torch.SymInt) else "other"
    return SavedValue(node.name, kind, _bytes(value))


def _bytes(value: Any) -> int | None:
    """Return the bytes of a tensor; None for a symbolic size or another value."""
    if not isinstance(value, torch.Tensor) or not all(isinstance(size, int) for size in value.shape):
        return None
    return value.numel() * value.itemsize


def _policy(node: Node) -> str:
    """Return a node's checkpoint policy, such as MUST_SAVE or PREFER_RECOMPUTE; empty if it has none."""
    return getattr(node.meta.get("recompute"), "name", "")


def _reasons(network: Any) -> dict[str, tuple[str, ...]]:
    """Return node → torch's reason for saving or recomputing it, from the edges of the min-cut network."""
    found: dict[str, tuple[str, ...]] = {}
    for source, target, data in network.edges(data=True) if network is not None else ():
        reason = data.get("reason")
        bound = target if source == "source" else source
        if reason and reason != "data dependency":
            name = bound.removesuffix("_in").removesuffix("_out")
            found[name] = (*found.get(name, ()), reason)
    return found


def emit_saved_values(emit: Emit, nodes: Nodes) -> Nodes:
    """Record the saved values as Inductor's pass after fusion, when every output has a buffer."""
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
        yield KeptValue(node.name, buffer, kind, _output_bytes(output))


def _output_bytes(output: Any) -> int | None:
    """Return the bytes of an output; None for a symbolic size."""
    elements = 1
    for size in output.get_size():
        if not getattr(size, "is_number", isinstance(size, int)):
            return None
        elements *= int(size)
    return elements * int(output.get_dtype().itemsize)


MAX_CHOICES = 500  #: limit: choices of one autotuning
MAX_NAME_CHARS = 400  #: the name of a choice


@contextmanager
def watching_autotuning(emit: Emit) -> Iterator[None]:
    """Record each autotuning round at Inductor's two benchmarking functions."""
    configs, results = CachingAutotuner.benchmark_all_configs, AlgorithmSelectorCache.log_results

    def benchmark_all_configs(self: Any, *args: Any, **kwargs: Any) -> Any:
        timings = configs(self, *args, **kwargs)
        name = str(self.inductor_meta.get("kernel_name") or self.fn.__name__)
        choices = _choices({str(choice.config): time_ms for choice, time_ms in timings.items()})
        emit(Autotuning(name=name, kind="configs", choices=choices))
        return timings

    def log_results(name: str, inputs: Any, timings: Any, *args: Any, **kwargs: Any) -> Any:
        choices = _choices({str(choice.name): time_ms for choice, time_ms in timings.items()})
        emit(Autotuning(name=name, kind="choices", choices=choices))
        return results(name, inputs, timings, *args, **kwargs)

    CachingAutotuner.benchmark_all_configs = benchmark_all_configs
    AlgorithmSelectorCache.log_results = staticmethod(log_results)
    try:
        yield
    finally:
        CachingAutotuner.benchmark_all_configs = configs
        AlgorithmSelectorCache.log_results = staticmethod(results)


def _choices(times_ms: dict[str, float]) -> tuple[Choice, ...]:
    """Return the choices, fastest first; Inductor takes the first. A choice without a time failed."""
    ordered = sorted(times_ms.items(), key=lambda entry: entry[1])[:MAX_CHOICES]
    return tuple(
        Choice(
            name=name[:MAX_NAME_CHARS],
            time_s=time_ms / 1e3 if math.isfinite(time_ms) else None,
            chosen=index == 0 and math.isfinite(time_ms),
        )
        for index, (name, time_ms) in enumerate(ordered)
    )
