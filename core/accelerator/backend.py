"""The backend `accelerator`: it partitions AOTAutograd's graphs, builds programs of the segments, and records both.

Partition of a graph into segments for the accelerator, by torch's own partitioner, in execution order.

Settings of the backend `accelerator`, from `options` of torch.compile.

The first call of a program, stored in the format of `cb_run`: one file of all inputs, one of all outputs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import getitem
from pathlib import Path
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from core.accelerator.describe import described, order_of, written_bytes
from core.accelerator.library import runtime
from core.accelerator.lowering import KERNELS, WHOLE, Support, op_name
from core.accelerator.program import PASSES
from core.accelerator.segment import CompiledSegment, SegmentModule, program_call
from core.base.errors import JobError, ProgramError
from core.base.machine import LoadWatch
from core.report import Crossing, Pipeline, RefusedNode
from core.report.records import Emit, Record
from core.report.records.compilation import NoteRecord

NAME = "accelerator"
OUTWARD = "a view that torch alone reads"
STATIC = "_dynamo_static_input_type"
# Programs up to this size are also written as C code, which is five times larger.
MOST_WRITTEN_AS_C_BYTES = 262_144
PREFIX = "segment_"
NAMES = ("without", "passes", "freeze", "examples")


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """A compiled segment with its compilation and direction (forward, backward or inference)."""

    compilation: str
    direction: str
    segment: SegmentModule


class Accelerator:
    """Backend object that torch.compile calls; writes programs into a directory, and records its work."""

    def __init__(self, emit: Emit, directory: Path) -> None:
        self._emit = emit
        self._directory = directory
        self._made: list[SegmentPlace] = []
        self._load = LoadWatch()

    def __call__(self, graph: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
        """Compile one Dynamo graph; raises JobError if an option is invalid or the runtime can't be built."""
        settings = settings_of(options)
        _require_runtime()
        begun = time.perf_counter()
        parameters = _parameters(graph) if settings.freeze else []

        def compiler(direction: str) -> Callable[..., Any]:
            def compile_graph(lowered: GraphModule, _: Sequence[Any]) -> Any:
                capture_s = time.perf_counter() - begun
                frozen = _frozen(lowered, parameters) if direction == "inference" else {}
                return self._compiled(lowered, direction, settings, frozen, capture_s)

            return compile_graph

        whole = {op: table for op, table in core_aten_decompositions().items() if op not in WHOLE}
        compiled = aot_autograd(
            fw_compiler=compiler("forward"),
            bw_compiler=compiler("backward"),
            inference_compiler=compiler("inference"),
            decompositions=whole,
            partition_fn=min_cut_rematerialization_partition,
        )
        return compiled(graph, inputs)

    def _compiled(
        self,
        graph: GraphModule,
        direction: str,
        settings: AcceleratorSettings,
        frozen: Mapping[str, torch.Tensor],
        capture_s: float,
    ) -> Any:
        begun = time.perf_counter()
        calls = sum(node.op == "call_function" for node in graph.graph.nodes)
        ops = {node.name: str(node.target) for node in graph.graph.nodes if node.op == "call_function"}
        support = Support(settings.without)
        names = divide(graph, support)
        divided = time.perf_counter()
        compilation = str(torch._guards.CompileContext.current_compile_id() or "")
        with unset_fake_temporarily():
            segments = [self._segment(graph, name, settings, frozen) for name in names]
        files = [self._written(segment, compilation, direction, settings) for segment in segments]
        if segments and not self._made and (slow := program_call()[1]):
            self._emit(NoteRecord(text=slow))
        self._made += [SegmentPlace(compilation, direction, segment) for segment in segments]
        done = time.perf_counter()
        self._emit(
            Pipeline(
                direction=direction,
                calls=calls,
                order=order_of(graph),
                refusals=_refusals(graph, ops, support),
                segments=tuple(map(described, segments, files)),
                without=tuple(sorted(settings.without)),
                frozen=len(frozen),
                times_s={"capture": capture_s, "partition": divided - begun, "programs": done - divided},
            )
        )
        return _boxed(graph)

    def _segment(
        self, graph: GraphModule, name: str, settings: AcceleratorSettings, frozen: Mapping[str, torch.Tensor]
    ) -> SegmentModule:
        nodes = getattr(graph, name)
        inside = {node.name for node in nodes.graph.nodes if node.op == "placeholder"}
        constants = {key: value for key, value in frozen.items() if key in inside}
        segment = SegmentModule(nodes, name, settings.passes, constants)
        setattr(graph, name, segment)
        return segment

    def _written(self, segment: SegmentModule, compilation: str, direction: str, settings: AcceleratorSettings) -> str:
        """Write the segment's program; returns the file's name, empty if there is no program."""
        if segment.first is None:
            return ""
        stem = "-".join(filter(None, [compilation.replace("/", "_"), direction, segment.name]))
        self._directory.mkdir(exist_ok=True)
        path = self._directory / f"{stem}.cbp"
        path.write_bytes(segment.first.file)
        if len(segment.first.file) <= MOST_WRITTEN_AS_C_BYTES:
            path.with_suffix(".c").write_text(segment.first.loaded.as_c(c_name(stem)), encoding="utf-8")
        if settings.examples:
            segment.watch = keeping_first(self._directory, stem)
        return f"{stem}.cbp"

    def close(self) -> None:
        """Record the calls across the C ABI; later compilations are not recorded."""
        load = self._load.load() if self._made else None
        for made in self._made:
            found = made.segment.crossings
            self._emit(
                Crossing(
                    compilation=made.compilation,
                    direction=made.direction,
                    segment=made.segment.name,
                    calls=found.calls,
                    runtime_s=found.runtime_s,
                    call_s=found.call_s,
                    allocated_bytes=found.allocated_bytes,
                    threads=torch.get_num_threads(),
                    copies=found.copies,
                    programs=made.segment.programs,
                    fallbacks=dict(found.fallbacks),
                    load=load,
                )
            )
        self._emit = _untold


def c_name(stem: str) -> str:
    """Return a C function name unique to the program's file, so that several programs can be linked together."""
    return "program_" + re.sub(r"\W", "_", stem, flags=re.ASCII)


def _refusals(divided: GraphModule, ops: Mapping[str, str], support: Support) -> tuple[RefusedNode, ...]:
    """Return the nodes outside the graph's segments, each with its reason."""
    left = [node for node in divided.graph.nodes if node.op == "call_function" and node.name in ops]
    return tuple(
        RefusedNode(node.name, ops[node.name], support.reasons.get(node.name, OUTWARD), written_bytes(node))
        for node in left
    )


def _untold(record: Record) -> None:
    """Ignore a record that is emitted after the run is closed."""


def _require_runtime() -> None:
    try:
        runtime()
    except ProgramError as error:
        raise JobError("compile.backend", str(error)) from None


def _boxed(graph: GraphModule) -> Callable[[list[Any]], Any]:
    """Return a function that takes its arguments as a list and clears it, as AOTAutograd prefers."""

    def call(inputs: list[Any]) -> Any:
        given = list(inputs)
        inputs.clear()
        return graph.forward(*given)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _parameters(graph: GraphModule) -> list[torch.Tensor | None]:
    """Return the parameter or buffer of each input of Dynamo's graph; None for an input passed at every call."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return [_parameter(node.meta) for node in nodes]


def _parameter(meta: Mapping[str, Any]) -> torch.Tensor | None:
    given = meta.get("grapharg")
    value = given.example if given is not None and STATIC in meta.get("tensor_dict", {}) else None
    return value if isinstance(value, torch.Tensor) else None


def _frozen(graph: GraphModule, parameters: Sequence[torch.Tensor | None]) -> dict[str, torch.Tensor]:
    """Return placeholder → parameter of AOTAutograd's graph; empty if its inputs don't match Dynamo's one to one."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    if len(nodes) != len(parameters):
        return {}
    pairs = [(node, value) for node, value in zip(nodes, parameters, strict=True) if value is not None]
    same = all(tuple(node.meta["val"].shape) == tuple(value.shape) for node, value in pairs)
    return {node.name: value for node, value in pairs} if same else {}


def divide(graph: GraphModule, support: Support) -> tuple[str, ...]:
    """Replace the supported nodes by segment modules, in place; returns the modules' names in execution order."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    proposed = [_working(list(partition.nodes)) for partition in partitioner.propose_partitions()]
    fuse_by_partitions(graph, [dict.fromkeys(nodes) for nodes in proposed if nodes], prefix=PREFIX)
    return _renumbered(graph)


def _renumbered(graph: GraphModule) -> tuple[str, ...]:
    """Renumber the modules in execution order, since the partitioner's numbers have no order."""
    calls = [node for node in graph.graph.nodes if node.op == "call_module"]
    modules = [getattr(graph, call.target) for call in calls]
    for call in calls:
        delattr(graph, call.target)
    for index, (call, module) in enumerate(zip(calls, modules, strict=True)):
        call.target = f"{PREFIX}{index}"
        setattr(graph, call.target, module)
    graph.recompile()
    return tuple(call.target for call in calls)


def _working(nodes: list[Node]) -> set[Node]:
    """Return the nodes without views that only torch's nodes read; empty if only views are left."""
    inside = set(nodes)
    while outward := {node for node in inside if _is_outward(node, inside)}:
        inside -= outward
    return inside if any(not _is_free(node) for node in inside) else set()


def _is_outward(node: Node, inside: set[Node]) -> bool:
    """Return True if only nodes outside the segment read a view; the outputs of one op stay together."""
    if not _is_free(node):
        return False
    source = node.args[0] if node.target is getitem else None
    if source is None:
        return not set(node.users) & inside
    return _is_free(source) and not any(set(item.users) & inside for item in source.users)


def _is_free(node: Node) -> bool:
    return KERNELS[node.target].free


@dataclass(frozen=True, slots=True)
class AcceleratorSettings:
    """Settings: ops that stay with torch, and enabled passes.

    With `freeze` parameters become constants; with `examples` the first call of each program is stored for `cb_run`.
    """

    without: frozenset[str] = frozenset()
    passes: int = sum(PASSES.values())
    freeze: bool = False
    examples: bool = False


def settings_of(options: Mapping[str, Any] | None) -> AcceleratorSettings:
    """Return the settings of the options; raises JobError for an unknown name."""
    given = dict(options or {})
    if unknown := sorted(set(given) - set(NAMES)):
        raise JobError("compile.options", f"the accelerator has no option `{unknown[0]}`; it has {', '.join(NAMES)}")
    without = frozenset(_words(given.get("without")))
    known = {op_name(op) for op in KERNELS} | {str(op) for op in KERNELS}
    if wrong := sorted(without - known):
        raise JobError(
            "compile.options", f"the accelerator has no kernel for `{wrong[0]}`, which is to be switched off"
        )
    passes = _passes(given["passes"]) if "passes" in given else sum(PASSES.values())
    return AcceleratorSettings(without, passes, bool(given.get("freeze")), bool(given.get("examples")))


def _passes(value: Any) -> int:
    names = _words(value)
    if names in (["all"], ["none"]):
        return sum(PASSES.values()) if names == ["all"] else 0
    if wrong := [name for name in names if name not in PASSES]:
        raise JobError("compile.options", f"there is no pass `{wrong[0]}`; there are {', '.join(PASSES)}")
    return sum(PASSES[name] for name in names)


def _words(value: Any) -> list[str]:
    return [word for word in re.split(r"[\s,+]+", str(value or "")) if word]


def keeping_first(directory: Path, stem: str) -> Callable[[CompiledSegment, Sequence[Any], Any], None]:
    """Return a function that stores the first call of a program."""
    kept: list[CompiledSegment] = []

    def keep(compiled: CompiledSegment, inputs: Sequence[Any], results: Any) -> None:
        if not kept:
            kept.append(compiled)
            (directory / f"{stem}.inputs").write_bytes(_given(compiled, inputs))
            (directory / f"{stem}.expected").write_bytes(_made(compiled, results))

    return keep


def _given(compiled: CompiledSegment, inputs: Sequence[Any]) -> bytes:
    sizes = compiled.loaded.input_bytes()
    return b"".join(_bytes(inputs[plan.argument], size) for plan, size in zip(compiled.inputs, sizes, strict=True))


def _made(compiled: CompiledSegment, results: Sequence[torch.Tensor]) -> bytes:
    found: dict[int, tuple[torch.Tensor, int]] = {}
    for plan, result in zip(compiled.results, results, strict=True):
        if not plan.of_input and plan.offset == 0:
            found[plan.place] = (result, plan.bytes)
    return b"".join(_bytes(result, size) for _, (result, size) in sorted(found.items()))


def _bytes(tensor: torch.Tensor, size: int) -> bytes:
    """Return `size` bytes of memory from the tensor's first element on, gaps included."""
    count = size // tensor.element_size()
    flat = tensor.detach().as_strided((count,), (1,), tensor.storage_offset())
    return bytes(flat.contiguous().view(torch.uint8).numpy().tobytes())
