"""Recorders of AOTAutograd's nodes: stack trace, file and `nn.Module` of each, the min-cut partition, and autotuning.

They are recorded between the steps of a run, so that no call waits for it.
"""

from __future__ import annotations

import importlib
import linecache
import math
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch._dynamo.symbolic_convert import tls
from torch._functorch import partitioners
from torch._guards import TracingContext
from torch._inductor import compile_fx
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._inductor.select_algorithm import AlgorithmSelectorCache
from torch._inductor.virtualized import V
from torch._logging.structured import INTERN_TABLE
from torch.fx import Graph, GraphModule, Node

from core.report import Autotuning, Choice, Decision, KeptValue, Module, SavedValue
from core.report.records import Emit
from core.report.records.compilation import KeptRecord, PartitionRecord, SourceRecord, StacksRecord

FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
LARGEST_SOURCE_BYTES = 1_000_000
MOST_SOURCES_BYTES = 8_000_000
MOST_STACK_FRAMES = 100
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
HERE = Path(__file__).parents[2]
SAMPLES = HERE / "samples"
TORCH = Path(torch.__file__).parent
# Torch files that users read; other torch files in stacks belong to tracing.
READ_OF_TORCH = (TORCH / "nn", TORCH / "optim")
# In the stack of every module call.
CALLS_MODULES = TORCH / "nn" / "modules" / "module.py"
ROOT = "L['self']"


class Sources:
    """Files named in stacks, each recorded once."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known = {str(CALLS_MODULES)}
        self._named: list[str] = []
        self._left_bytes = MOST_SOURCES_BYTES

    def already(self, path: str) -> None:
        """Mark a file as recorded."""
        self._known.add(path)

    def name(self, paths: Iterable[str]) -> None:
        """Add files to record later."""
        self._named += paths

    def record(self) -> None:
        """Record the new files of stacks and of torch's log."""
        for path in [*self._named, *INTERN_TABLE]:
            if path not in self._known:
                self._known.add(path)
                self._one(path)
        self._named.clear()

    def _one(self, path: str) -> None:
        text = _text(Path(path), self._left_bytes) if path.endswith(".py") else None
        if text is not None:
            self._left_bytes -= len(text)
            self._emit(SourceRecord(path=path, text=text))


def _text(path: Path, left_bytes: int) -> str | None:
    """Return a file's text; None if it isn't part of the model's code or is too long."""
    ours = path.is_relative_to(HERE) and not path.is_relative_to(SAMPLES)
    library = path.is_relative_to(STANDARD_LIBRARY) and "site-packages" not in path.parts
    tracing = path.is_relative_to(TORCH) and not any(path.is_relative_to(part) for part in READ_OF_TORCH)
    try:
        if ours or library or tracing:
            return None
        if not path.is_file():
            # The code of a notebook's cell is in no file.
            lines = linecache.getlines(str(path))
            return "".join(lines) if 0 < sum(map(len, lines)) <= min(LARGEST_SOURCE_BYTES, left_bytes) else None
        if path.stat().st_size > min(LARGEST_SOURCE_BYTES, left_bytes):
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def stacks_of(graph: Graph, stage: str) -> StacksRecord:
    """Return the stacks of a graph's nodes, which Dynamo stores from the traced frame on."""
    frames: dict[tuple[str, int, str], int] = {}
    stacks: dict[tuple[int, int], int] = {}
    by_text: dict[str, int] = {}
    nodes: dict[str, int] = {}
    for node in graph.nodes:
        text = node.meta.get("stack_trace")
        if not isinstance(text, str) or not text:
            continue
        if text not in by_text:
            by_text[text] = _stack(text, frames, stacks)
        nodes[node.name] = by_text[text]
    return StacksRecord(stage=stage, frames=tuple(frames), stacks=tuple(stacks), nodes=nodes)


def _stack(text: str, frames: dict[tuple[str, int, str], int], stacks: dict[tuple[int, int], int]) -> int:
    around = -1
    for file, line, function in FRAME.findall(text)[-MOST_STACK_FRAMES:]:
        frame = frames.setdefault((file, int(line), function), len(frames))
        around = stacks.setdefault((around, frame), len(stacks))
    return around


class Modules:
    """Modules of consecutive graphs; known modules of one graph are used for later ones."""

    def __init__(self) -> None:
        self._by_seq: dict[str, dict[int, Module]] = {}
        self._roots: dict[str, Module | None] = {}

    def of(self, graph: Graph) -> dict[str, Module]:
        """Return FX node → its module; nodes without a module are left out."""
        compilation = str(torch._guards.CompileContext.current_compile_id())
        root = self._root(compilation)
        by_seq = self._by_seq.setdefault(compilation, {})
        modules = {node: module for node in graph.nodes if (module := _own(node))}
        calls = [node for node in graph.nodes if node.op.startswith("call_")]
        numbered = {node: module for node, module in modules.items() if "seq_nr" in node.meta}
        # Without autograd, all nodes have the same number.
        told = len({node.meta["seq_nr"] for node in numbered}) > 1
        for node, module in numbered.items():
            if told and node.meta.get("nn_module_stack"):
                by_seq.setdefault(node.meta["seq_nr"], module)
        modules |= {
            node: module for node in calls if node not in modules and (module := _by_origin(node, by_seq, root))
        }
        _from_neighbours(calls, modules)
        return {node.name: module for node, module in modules.items()}

    def _root(self, compilation: str) -> Module | None:
        """Return the module whose `forward` Dynamo traces; a backward, compiled later, uses the forward's."""
        tracer = getattr(tls, "current_tx", None)
        if tracer is not None:
            owner = tracer.f_locals.get("self")
            known = isinstance(owner, torch.nn.Module)
            self._roots[compilation] = Module(ROOT, type(owner).__name__) if known else None
        return self._roots.get(compilation)


def _own(node: Node) -> Module | None:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None
    path, kind = list(stack.values())[-1]
    return Module(str(path), getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1]))


def _by_origin(node: Node, by_seq: dict[int, Module], root: Module | None) -> Module | None:
    """Return the module by autograd's sequence number, which forward and backward nodes share.

    Returns the root for nodes outside submodules. None for a gradient accumulation, since its number belongs to another
    op, and for a node that a pass created.
    """
    if node.meta.get("is_gradient_acc") or not {"seq_nr", "stack_trace"} & node.meta.keys():
        return None
    return by_seq.get(node.meta.get("seq_nr", -1), root)


def _from_neighbours(calls: list[Node], modules: dict[Node, Module]) -> None:
    """Add the modules of remaining nodes: from replaced nodes, else from the only reader, else from an input."""
    by_name = {node.name: module for node, module in modules.items()}
    for node in reversed(calls):
        if node not in modules:
            replaced = [by_name[source.name] for source in node.meta.get("from_node", ()) if source.name in by_name]
            readers = {modules[user] for user in node.users if user in modules}
            found = replaced or (list(readers) if len(readers) == 1 else [])
            if found:
                modules[node] = found[0]
    for node in calls:
        found = [modules[item] for item in node.all_input_nodes if item in modules]
        if node not in modules and found:
            modules[node] = found[0]


class DeferredRecords:
    """Deferred records: the files named so far, and tasks that emit a record when called."""

    def __init__(self, emit: Emit) -> None:
        self.sources = Sources(emit)
        self._tasks: list[Callable[[], None]] = []

    def add(self, task: Callable[[], None]) -> None:
        """Add a task for later."""
        self._tasks.append(task)

    def record(self) -> None:
        """Call the tasks in order, then record the files."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()
        self.sources.record()


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
    """Return the partitioner's decision for a node: an input of the backward is saved, a node in both is recomputed."""
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
    """Return the checkpoint policy of a node, set by the user or torch: MUST_SAVE, PREFER_RECOMPUTE …"""
    return getattr(node.meta.get("recompute"), "name", "")


def _reasons(network: Any) -> dict[str, tuple[str, ...]]:
    """Return torch's reasons by node, from the edges of the network."""
    found: dict[str, tuple[str, ...]] = {}
    for source, target, data in network.edges(data=True) if network is not None else ():
        reason = data.get("reason")
        bound = target if source == "source" else source
        if reason and reason != "data dependency":
            name = bound.removesuffix("_in").removesuffix("_out")
            found[name] = (*found.get(name, ()), reason)
    return found


def emit_saved_values(emit: Emit, nodes: Nodes) -> Nodes:
    """Record the saved values in Inductor's pass after fusion, when every output has its buffer.

    Return the nodes.
    """
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


MAX_CHOICES = 500
MAX_NAME_CHARS = 400


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
