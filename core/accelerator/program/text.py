"""Conversion of a program to text and back: a line for each storage, tensor, instruction and step, values as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from core.accelerator.program.program import (
    DTYPES,
    UNPLACED,
    Opcode,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StepOperand,
    StorageKind,
)
from core.base.decoder import decoded
from core.base.errors import DecodeError, ProgramError

BYTES_A_LINE = 48


def program_text(program: Program) -> str:
    """Return the program as text; `program_of` converts it back to the same program."""
    lines = [_line("storage", s.kind.name, s.bytes, None if s.place == UNPLACED else s.place) for s in program.storages]
    lines += [
        _line("tensor", t.storage, DTYPES[t.dtype], t.sizes, t.strides, t.offset, t.name) for t in program.tensors
    ]
    for item in program.instructions:
        lines.append(
            _line("instruction", item.op.name, item.name, item.inputs, item.outputs, item.attributes, item.stored)
        )
        lines += [
            _line("step", step.op.name, DTYPES[step.dtype], step.name, *map(_operand, step.operands))
            for step in item.steps
        ]
    data = program.constants
    lines += [_line("constants", data[at : at + BYTES_A_LINE].hex()) for at in range(0, len(data), BYTES_A_LINE)]
    return "\n".join(lines) + "\n"


def _line(word: str, *values: Any) -> str:
    return f"{word} {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}"


def _operand(operand: StepOperand) -> tuple[str, int]:
    return operand.kind.name, operand.index


def program_of(text: str) -> Program:
    """Return the program of a text; raises ProgramError that names the invalid line."""
    storages: list[ProgramStorage] = []
    tensors: list[ProgramTensor] = []
    instructions: list[ProgramInstruction] = []
    constants = bytearray()
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.partition(" ")
        try:
            values = decoded(f"[{rest}]")
            if word == "storage":
                storages.append(_storage(*values))
            elif word == "tensor":
                tensors.append(_tensor(*values))
            elif word == "instruction":
                instructions.append(_instruction(*values))
            elif word == "step":
                instructions[-1] = replace(instructions[-1], steps=(*instructions[-1].steps, _step(*values)))
            else:
                constants += bytes.fromhex(*values) if word == "constants" else _unknown(word)
        except (DecodeError, ValueError, TypeError, KeyError, IndexError) as error:
            raise ProgramError(f"line {number} is no part of a program: {error}") from None
    return Program(tuple(storages), tuple(tensors), tuple(instructions), bytes(constants))


def _unknown(word: str) -> bytes:
    raise ValueError(f"`{word}` is no word of it")


def _storage(kind: str, size: int, place: int | None) -> ProgramStorage:
    return ProgramStorage(StorageKind[kind], size, UNPLACED if place is None else place)


def _tensor(storage: int, dtype: str, sizes: list[int], strides: list[int], offset: int, name: str) -> ProgramTensor:
    return ProgramTensor(storage, DTYPES.index(dtype), tuple(sizes), tuple(strides), offset, name)


def _instruction(
    op: str, name: str, inputs: list[int], outputs: list[int], attributes: list[int], stored: list[int]
) -> ProgramInstruction:
    return ProgramInstruction(Opcode[op], name, tuple(inputs), tuple(outputs), tuple(attributes), (), tuple(stored))


def _step(op: str, dtype: str, name: str, *operands: tuple[str, int]) -> ProgramStep:
    made = tuple(StepOperand(OperandKind[kind], index) for kind, index in operands)
    return ProgramStep(StepOp[op], DTYPES.index(dtype), name, made)
