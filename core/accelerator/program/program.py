"""Program of the accelerator: storages, tensors and instructions, with their enums and text form.

A tensor is a view of a storage. Instructions are in execution order. The enums have the values of the
program's file, as in `core/accelerator/runtime/opcodes.h`. The text has a line for each storage, tensor,
instruction, step and piece of the constants, with values as JSON. `program_of` reads the text.
"""

import json
import struct
from dataclasses import dataclass, replace
from enum import IntEnum
from math import prod
from typing import Any

from core.base.decoder import decoded
from core.base.errors import DecodeError, ProgramError

DTYPES = ("float32", "bfloat16", "int64", "bool")
ITEM_BYTES = (4, 2, 8, 1)
MAX_RANK = 8  #: limit: dimensions of a tensor in the accelerator's programs
# Passes over a program in execution order, each with its bit.
PASSES = {
    "fold-constants": 1,
    "drop-no-ops": 2,
    "drop-dead-code": 4,
    "fuse-products": 8,
    "fuse-elementwise": 16,
    "plan-memory": 32,
}
UNPLACED = 2**64 - 1
ALIGNMENT = 64
# Subdirectory of a run's directory with its programs.
PROGRAMS = "programs"
BYTES_A_LINE = 48


class Opcode(IntEnum):
    """Operation of an instruction."""

    ARGUMENT = 1
    RESULT = 2
    VIEW = 3
    ELEMENTWISE = 4
    PRODUCT = 5
    SOFTMAX = 6
    LAYER_NORM = 7
    RMS_NORM = 8
    REDUCE = 9
    EMBEDDING = 10
    ATTENTION = 11
    CONCATENATE = 12


class StepOp(IntEnum):
    """Operation of a step, in an elementwise instruction or a product's epilogue."""

    IDENTITY = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DIV = 5
    MAXIMUM = 6
    MINIMUM = 7
    POW = 8
    NEG = 9
    ABS = 10
    EXP = 11
    LOG = 12
    SQRT = 13
    RSQRT = 14
    RECIPROCAL = 15
    SIN = 16
    COS = 17
    TANH = 18
    ERF = 19
    SIGMOID = 20
    RELU = 21
    GELU = 22
    GELU_TANH = 23
    SILU = 24
    EQ = 25
    NE = 26
    LT = 27
    LE = 28
    GT = 29
    GE = 30
    WHERE = 31
    LOGICAL_NOT = 32
    LOGICAL_AND = 33
    LOGICAL_OR = 34


class StorageKind(IntEnum):
    """Kind of memory of a storage."""

    INPUT = 1
    OUTPUT = 2
    TEMPORARY = 3
    CONSTANT = 4


class OperandKind(IntEnum):
    """Kind of a step's operand.

    Nothing, an input tensor, an earlier step's result, a number, or the matmul's result in a `PRODUCT`
    instruction.
    """

    NONE = 0
    FROM_INPUT = 1
    FROM_STEP = 2
    IMMEDIATE = 3
    FROM_PRODUCT = 4


class Reduction(IntEnum):
    """Operation by which REDUCE combines elements."""

    SUM = 0
    MEAN = 1
    AMAX = 2
    AMIN = 3


@dataclass(frozen=True, slots=True)
class ProgramStorage:
    """Memory; `place` is the index of an input or output, or the offset of a constant or temporary."""

    kind: StorageKind
    bytes: int
    place: int = UNPLACED


@dataclass(frozen=True, slots=True)
class ProgramTensor:
    """A view of a storage: `dtype` is an index into `DTYPES`; offset and strides are in elements."""

    storage: int
    dtype: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    name: str = ""

    @property
    def numel(self) -> int:
        """Return the number of elements."""
        return prod(self.sizes)

    @property
    def extent_bytes(self) -> int:
        """Return the bytes of the storage up to the tensor's last element."""
        if 0 in self.sizes:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        return (self.offset + last + 1) * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class StepOperand:
    """Operand of a step; `index` is the index of an input or step, or a number's float32 bits."""

    kind: OperandKind = OperandKind.NONE
    index: int = 0


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """An elementwise operation of an instruction."""

    op: StepOp
    dtype: int
    name: str
    operands: tuple[StepOperand, ...]


@dataclass(frozen=True, slots=True)
class ProgramInstruction:
    """An instruction; `inputs` and `outputs` are tensor numbers.

    Only ops without steps have `attributes`. `stored` is the index of the step that each output stores, -1 for
    the product itself.
    """

    op: Opcode
    name: str
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    attributes: tuple[int, ...] = ()
    steps: tuple[ProgramStep, ...] = ()
    stored: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program; `constants` is the memory of all constants."""

    storages: tuple[ProgramStorage, ...]
    tensors: tuple[ProgramTensor, ...]
    instructions: tuple[ProgramInstruction, ...]
    constants: bytes = b""

    @property
    def results(self) -> tuple[int, ...]:
        """Return the indices of the tensors that the program returns."""
        return self.instructions[-1].inputs

    @property
    def arena_bytes(self) -> int:
        """Return the bytes of the arena, which contains all temporaries."""
        placed = (s for s in self.storages if s.kind == StorageKind.TEMPORARY and s.place != UNPLACED)
        return max((storage.place + aligned(storage.bytes) for storage in placed), default=0)


def aligned(size: int) -> int:
    """Round a size up to a multiple of 64."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def number(value: float) -> StepOperand:
    """Return a number as a step's operand."""
    return StepOperand(OperandKind.IMMEDIATE, struct.unpack("<I", struct.pack("<f", value))[0])


def double_bits(value: float) -> int:
    """Return the bits of a float64, for an attribute."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def lives(program: Program) -> tuple[tuple[int, int] | None, ...]:
    """Return the first and last instruction that use each storage; None for an unused storage."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, instruction in enumerate(program.instructions):
        for tensor in (*instruction.outputs, *instruction.inputs):
            storage = program.tensors[tensor].storage
            first.setdefault(storage, index)
            last[storage] = index
    return tuple((first[at], last[at]) if at in first else None for at in range(len(program.storages)))


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
