"""A program: memory, tensors that are views of it, and instructions in the order in which they run."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod

from core.accelerator.program.opcodes import ITEM_BYTES, Opcode, OperandKind, StepOp, StorageKind

UNPLACED = 2**64 - 1
ALIGNMENT = 64
# Where the programs of a run lie, below its directory.
PROGRAMS = "programs"


@dataclass(frozen=True, slots=True)
class ProgramStorage:
    """Memory. `place` is an input's or output's number, a constant's offset, a temporary's offset in the arena."""

    kind: StorageKind
    bytes: int
    place: int = UNPLACED


@dataclass(frozen=True, slots=True)
class ProgramTensor:
    """A view of a storage: `dtype` counts in `DTYPES`; offset and strides are in elements."""

    storage: int
    dtype: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    name: str = ""

    @property
    def numel(self) -> int:
        """Elements."""
        return prod(self.sizes)

    @property
    def extent_bytes(self) -> int:
        """Bytes of its storage up to its last element."""
        if 0 in self.sizes:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        return (self.offset + last + 1) * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class StepOperand:
    """Operand of a step; `index` is the bits of a float32 if it is a number."""

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
    """An instruction on tensors, given by number.

    `attributes` are for ops without steps; `stored` is the step of each output, -1 for the product itself.
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
    """All of it; `constants` is the memory of the constants."""

    storages: tuple[ProgramStorage, ...]
    tensors: tuple[ProgramTensor, ...]
    instructions: tuple[ProgramInstruction, ...]
    constants: bytes = b""

    @property
    def results(self) -> tuple[int, ...]:
        """The tensors that the program returns."""
        return self.instructions[-1].inputs

    @property
    def arena_bytes(self) -> int:
        """Memory of all temporaries as they are placed."""
        placed = (s for s in self.storages if s.kind == StorageKind.TEMPORARY and s.place != UNPLACED)
        return max((storage.place + aligned(storage.bytes) for storage in placed), default=0)


def aligned(size: int) -> int:
    """The next multiple of 64."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def number(value: float) -> StepOperand:
    """A number as a step's operand."""
    return StepOperand(OperandKind.IMMEDIATE, struct.unpack("<I", struct.pack("<f", value))[0])


def double_bits(value: float) -> int:
    """A float64 as an attribute."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def lives(program: Program) -> tuple[tuple[int, int] | None, ...]:
    """Return the first and last instruction that touch each storage; None if none does."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, instruction in enumerate(program.instructions):
        for tensor in (*instruction.outputs, *instruction.inputs):
            storage = program.tensors[tensor].storage
            first.setdefault(storage, index)
            last[storage] = index
    return tuple((first[at], last[at]) if at in first else None for at in range(len(program.storages)))
