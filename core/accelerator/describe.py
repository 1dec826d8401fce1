"""Description of a segment and its program for the report."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node

from core.accelerator.builder import hinted
from core.accelerator.program import (
    DTYPES,
    UNPLACED,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    StorageKind,
    lives,
    program_sections,
)
from core.accelerator.segment import CompiledSegment, SegmentModule
from core.base.errors import ProgramError
from core.base.words import exact
from core.report import FileSection, PipelineSegment, ProgramBuffer, ProgramEntry, ProgramPass, tensor_text

CALLS = ("call_module", "call_function")


def described(segment: SegmentModule, file: str) -> PipelineSegment:
    """Return the report's entry of a compiled segment; `file` is the name of its program's file."""
    nodes = list(segment.nodes.graph.nodes)
    names = tuple(node.name for node in nodes if node.op == "call_function")
    inputs = [n.meta["val"] for n in nodes if n.op == "placeholder" and n.name not in segment.constants]
    across = _bytes(inputs), _bytes(_results(segment.nodes))
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
        passes=_passes(compiled),
        sections=tuple(FileSection(s.name, s.offset, s.bytes, s.checksum) for s in program_sections(compiled.file)),
        buffers=_buffers(compiled.program),
        times_s=compiled.times_s,
        written_bytes=written,
    )


def _results(nodes: GraphModule) -> list[Any]:
    output = next(node for node in nodes.graph.nodes if node.op == "output")
    return [node.meta["val"] for node in output.all_input_nodes]


def written_bytes(node: Node) -> int:
    """Return the bytes that a call writes; 0 for a view and for `getitem`, whose source is already counted."""
    if node.op != "call_function" or node.target is getitem or _is_view(node.target):
        return 0
    value = node.meta.get("val")
    return _bytes(value if isinstance(value, (tuple, list)) else [value])


def _is_view(target: Any) -> bool:
    returns = target._schema.returns if isinstance(target, torch._ops.OpOverload) else ()
    return any(item.alias_info is not None and not item.alias_info.is_write for item in returns)


def _bytes(values: Iterable[Any]) -> int:
    """Return the bytes of tensors; symbolic sizes count by torch's hints, or as 0 without a hint."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return sum(_hinted(tensor.numel()) * tensor.element_size() for tensor in tensors)


def _hinted(value: Any) -> int:
    try:
        return hinted(value)
    except ProgramError:
        return 0


def _passes(compiled: CompiledSegment) -> tuple[ProgramPass, ...]:
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
