"""One kernel of the runtime, called with torch's tensors as they lie, by a program of one instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import torch

from core.accelerator.builder import TORCH_DTYPES
from core.accelerator.library import LoadedProgram, checksum
from core.accelerator.program.file import write_program
from core.accelerator.program.program import (
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

SIZES = (0, 1, 1, 2, 3, 5, 8, 17, 33, 64, 131)
MOST_ELEMENTS = 20_000
F32 = 0
Made = Callable[[Sequence[int], Sequence[int]], ProgramInstruction]


def shape(chance: Random, rank: int, least: int = 0) -> list[int]:
    """Sizes, among them nothing, one, odd and large ones, of no more than a few thousand elements."""
    found: list[int] = []
    for _ in range(rank):
        fitting = [size for size in SIZES if size >= least and size * _elements(found) <= MOST_ELEMENTS]
        found.append(chance.choice(fitting))
    chance.shuffle(found)
    return found


def _elements(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= max(size, 1)
    return count


def laid_out(chance: Random, value: torch.Tensor) -> torch.Tensor:
    """The same numbers, half of the time in another order of memory, or with gaps."""
    if value.dim() and chance.random() < 0.25:
        order = chance.sample(range(value.dim()), value.dim())
        return value.permute(order).contiguous().permute([order.index(dim) for dim in range(value.dim())])
    if value.dim() and chance.random() < 0.33:
        wide = value.new_zeros([*value.shape[:-1], value.shape[-1] * 2 + 1])
        wide[..., 1::2] = value
        return wide[..., 1::2]
    return value


def numbers(chance: Random, sizes: Sequence[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Normal numbers of these sizes, laid out in any way; of bool half of each."""
    value = torch.randn(list(sizes))
    return laid_out(chance, value > 0 if dtype == torch.bool else value.to(dtype))


def called(made: Made, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], threads: int) -> None:
    """Run an instruction, made for tensors by their numbers, on inputs into outputs."""
    memory, kinds = [*inputs, *outputs], [StorageKind.INPUT] * len(inputs) + [StorageKind.OUTPUT] * len(outputs)
    tensors = [_described(at, value) for at, value in enumerate(memory)]
    places = [*range(len(inputs)), *range(len(outputs))]
    storages = [
        ProgramStorage(kind, tensor.extent_bytes, place)
        for kind, tensor, place in zip(kinds, tensors, places, strict=True)
    ]
    given, results = range(len(inputs)), range(len(inputs), len(memory))
    instructions = (made(given, results), ProgramInstruction(Opcode.RESULT, "result", tuple(results)))
    program = Program(tuple(storages), tuple(tensors), instructions)
    loaded = LoadedProgram(write_program(program, checksum))
    addresses = [(value.data_ptr(), tensor.extent_bytes) for value, tensor in zip(memory, tensors, strict=True)]
    loaded.run(addresses[: len(inputs)], addresses[len(inputs) :], threads)


def _described(storage: int, value: torch.Tensor) -> ProgramTensor:
    return ProgramTensor(storage, TORCH_DTYPES.index(value.dtype), tuple(value.shape), tuple(value.stride()))


def instruction(op: Opcode, *attributes: int) -> Made:
    """An op with attributes, of all inputs into all outputs."""
    return lambda given, made: ProgramInstruction(op, "kernel", tuple(given), tuple(made), attributes)


def step(op: StepOp, dtype: torch.dtype) -> Made:
    """One elementwise step of all inputs, stored as a dtype."""

    def make(given: Sequence[int], made: Sequence[int]) -> ProgramInstruction:
        operands = tuple(StepOperand(OperandKind.FROM_INPUT, at) for at in given)
        whole = ProgramStep(op, TORCH_DTYPES.index(dtype), "kernel", operands)
        return ProgramInstruction(Opcode.ELEMENTWISE, "kernel", tuple(given), tuple(made), (), (whole,), (0,))

    return make


def product() -> Made:
    """A matrix product without an epilogue."""
    return lambda given, made: ProgramInstruction(Opcode.PRODUCT, "kernel", tuple(given), tuple(made), stored=(-1,))


def agree(chance: Random, made: Made, inputs: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> None:
    """The kernel gives what torch gave in float64, within the tolerance of the dtype that it stores."""
    outputs = [laid_out(chance, torch.full_like(value, True)) for value in wanted]
    called(made, inputs, outputs, 1 + (chance.random() < 0.05))
    for found, value in zip(outputs, wanted, strict=True):
        loose = value.dtype == torch.bfloat16
        finite = value[value.isfinite()].float()
        largest = float(finite.abs().max()) if finite.numel() else 1.0
        tolerance = {"rtol": 2e-2 if loose else 2e-5, "atol": (1e-2 if loose else 2e-6) * max(largest, 1.0)}
        torch.testing.assert_close(found, value, equal_nan=True, **tolerance)
