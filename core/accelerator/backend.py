"""The backend `accelerator`: segments of AOTAutograd's graphs, one program per segment, and records.

torch's partitioner makes the segments; their numbers follow the execution order. The settings come from
`options` of torch.compile. With the option `examples`, each segment's first call is stored for `cb_run`: one
file of all inputs, one of all outputs.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
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

from core.accelerator.builder import hinted
from core.accelerator.library import runtime
from core.accelerator.lowering import KERNELS, WHOLE, Support, op_name
from core.accelerator.program.file import sections_of
from core.accelerator.program.program import (
    DTYPES,
    PASSES,
    UNPLACED,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    StorageKind,
    lives,
)
from core.accelerator.segment import CompiledSegment, CompileKeys, SegmentModule, program_call
from core.base.errors import JobError, ProgramError
from core.base.machine import LoadWatch
from core.base.words import exact
from core.report import (
    Crossing,
    Pipeline,
    PipelineSegment,
    ProgramBuffer,
    ProgramEntry,
    ProgramPass,
    RefusedNode,
    tensor_text,
)
from core.report.records import Emit, Record
from core.report.records.compilation import NoteRecord

NAME = "accelerator"
OUTWARD = "a view that torch alone reads"
STATIC = "_dynamo_static_input_type"
# Programs up to this size are also written as C code, which is five times larger.
MOST_WRITTEN_AS_C_BYTES = 262_144  #: a program that is also written as C code
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
        self._keys = CompileKeys()

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
        compilation = self._keys.current()
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
                key=compilation,
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
        """Write the calls that crossed the C ABI to the log, and stop recording."""
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
    """Return the C function name of a program; unique, so that several programs can be linked together."""
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
    """Return a boxed function for AOTAutograd: it takes its arguments as a list and clears the list."""

    def call(inputs: list[Any]) -> Any:
        given = list(inputs)
        inputs.clear()
        return graph.forward(*given)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _parameters(graph: GraphModule) -> list[torch.Tensor | None]:
    """Return the parameter or buffer of each placeholder in Dynamo's graph; None for other inputs."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return [_parameter(node.meta) for node in nodes]


def _parameter(meta: Mapping[str, Any]) -> torch.Tensor | None:
    given = meta.get("grapharg")
    value = given.example if given is not None and STATIC in meta.get("tensor_dict", {}) else None
    return value if isinstance(value, torch.Tensor) else None


def _frozen(graph: GraphModule, parameters: Sequence[torch.Tensor | None]) -> dict[str, torch.Tensor]:
    """Return placeholder name → parameter for AOTAutograd's graph.

    Empty if the number of inputs or the shape of a parameter differs from Dynamo's graph.
    """
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    if len(nodes) != len(parameters):
        return {}
    pairs = [(node, value) for node, value in zip(nodes, parameters, strict=True) if value is not None]
    same = all(tuple(node.meta["val"].shape) == tuple(value.shape) for node, value in pairs)
    return {node.name: value for node, value in pairs} if same else {}


def divide(graph: GraphModule, support: Support) -> tuple[str, ...]:
    """Replace supported nodes with segment modules, in place; returns the names in execution order."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    proposed = [_working(list(partition.nodes)) for partition in partitioner.propose_partitions()]
    fuse_by_partitions(graph, [dict.fromkeys(nodes) for nodes in proposed if nodes], prefix=PREFIX)
    return _renumbered(graph)


def _renumbered(graph: GraphModule) -> tuple[str, ...]:
    """Number the segment modules in execution order, which the partitioner lacks; return their names."""
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
    """Return the nodes without views that are read only outside the segment; empty if only views remain."""
    inside = set(nodes)
    while outward := {node for node in inside if _is_outward(node, inside)}:
        inside -= outward
    return inside if any(not _is_free(node) for node in inside) else set()


def _is_outward(node: Node, inside: set[Node]) -> bool:
    """Return True for a view that only nodes outside the segment read.

    The outputs of one op stay together.
    """
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
    """Settings: ops that torch runs (`without`), and enabled passes as bits of `PASSES`.

    With `freeze`, inference programs contain the parameters as constants. With `examples`, the first call of each
    program is stored for `cb_run`.
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


CALLS = ("call_module", "call_function")


def described(segment: SegmentModule, file: str) -> PipelineSegment:
    """Return the report's entry of a compiled segment; `file` is the name of its program's file."""
    nodes = list(segment.nodes.graph.nodes)
    names = tuple(node.name for node in nodes if node.op == "call_function")
    inputs = [n.meta["val"] for n in nodes if n.op == "placeholder" and n.name not in segment.constants]
    across = _byte_ranges(inputs), _byte_ranges(_results(segment.nodes))
    written = sum(map(written_bytes, nodes))
    compiled = segment.first
    if compiled is None:
        return PipelineSegment(segment.name, names, *across, problem=segment.problem, written_bytes=written)
    info = compiled.loaded.info
    return PipelineSegment(
        segment.name,
        names,
        *across,
        file=file,
        file_bytes=len(compiled.file),
        arena_bytes=info.arena_bytes,
        temporary_bytes=info.temporary_bytes,
        constant_bytes=info.constant_bytes,
        dynamic=segment.dynamic,
        entries=tuple(_entry(compiled.program, item) for item in compiled.program.instructions),
        passes=_described_passes(compiled),
        sections=sections_of(compiled.file, len(compiled.file)),
        buffers=_buffers(compiled.program),
        times_s=compiled.times_s,
        written_bytes=written,
    )


def _results(nodes: GraphModule) -> list[Any]:
    output = next(node for node in nodes.graph.nodes if node.op == "output")
    return [node.meta["val"] for node in output.all_input_nodes]


def written_bytes(node: Node) -> int:
    """Return the bytes that a call writes; 0 for views and for `getitem`, since its source is counted."""
    if node.op != "call_function" or node.target is getitem or _is_view(node.target):
        return 0
    value = node.meta.get("val")
    return _byte_ranges(value if isinstance(value, (tuple, list)) else [value])


def _is_view(target: Any) -> bool:
    returns = target._schema.returns if isinstance(target, torch._ops.OpOverload) else ()
    return any(item.alias_info is not None and not item.alias_info.is_write for item in returns)


def _byte_ranges(values: Iterable[Any]) -> int:
    """Return the bytes of tensors; symbolic sizes count by torch's hints, or as 0 without a hint."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return sum(_hinted(tensor.numel()) * tensor.element_size() for tensor in tensors)


def _hinted(value: Any) -> int:
    try:
        return hinted(value)
    except ProgramError:
        return 0


def _described_passes(compiled: CompiledSegment) -> tuple[ProgramPass, ...]:
    stages = compiled.loaded.stages()
    return tuple(ProgramPass(name, _entries(text), text) for name, text in stages)


def _entries(text: str) -> int:
    return sum(1 for line in text.splitlines() if not line.startswith(" "))


def _entry(program: Program, instruction: ProgramInstruction) -> ProgramEntry:
    tensors = [program.tensors[number] for number in instruction.outputs]
    outputs = (f"{tensor.name}: {tensor_text(DTYPES[tensor.dtype], tensor.sizes)}" for tensor in tensors)
    nodes = dict.fromkeys([instruction.name, *(step.name for step in instruction.steps)])
    steps = (_step(program, instruction, step) for step in instruction.steps)
    inputs = (program.tensors[number].name for number in instruction.inputs)
    return ProgramEntry(instruction.op.name.lower(), tuple(nodes), tuple(steps), tuple(inputs), tuple(outputs))


def _step(program: Program, instruction: ProgramInstruction, step: ProgramStep) -> str:
    def operand(kind: OperandKind, index: int) -> str:
        if kind == OperandKind.FROM_INPUT:
            return program.tensors[instruction.inputs[index]].name
        if kind == OperandKind.FROM_STEP:
            return instruction.steps[index].name
        if kind == OperandKind.FROM_PRODUCT:
            return "product"
        return exact(struct.unpack("<f", struct.pack("<I", index))[0])

    operands = ", ".join(operand(found.kind, found.index) for found in step.operands)
    return f"{step.name} = {step.op.name.lower()}({operands})"


def _buffers(program: Program) -> tuple[ProgramBuffer, ...]:
    names: dict[int, str] = {}
    for tensor in program.tensors:
        names.setdefault(tensor.storage, tensor.name)
    found = []
    for index, (storage, life) in enumerate(zip(program.storages, lives(program), strict=True)):
        if life is not None:
            first, last = _needed(storage.kind, life, len(program.instructions) - 1)
            place = None if storage.place == UNPLACED else storage.place
            kind = storage.kind.name.lower()
            found.append(ProgramBuffer(names[index], kind, storage.bytes, place, first, last))
    return tuple(found)


def _needed(kind: StorageKind, life: tuple[int, int], end: int) -> tuple[int, int]:
    return life if kind == StorageKind.TEMPORARY else (0, end)


def order_of(graph: GraphModule) -> tuple[str, ...]:
    """Return the execution order: segments by name, torch's calls by node name; `getitem` is not a call."""
    calls = [node for node in graph.graph.nodes if node.op in CALLS and node.target is not getitem]
    return tuple(str(node.target) if node.op == "call_module" else node.name for node in calls)
