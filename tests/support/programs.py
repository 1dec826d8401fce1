"""Programs of the accelerator, made by hand."""

from collections.abc import Sequence

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
    number,
)

FIRST = StepOperand(OperandKind.FROM_INPUT, 0)
SECOND = StepOperand(OperandKind.FROM_INPUT, 1)


def dense(storage: int, sizes: Sequence[int], name: str) -> ProgramTensor:
    """A float32 tensor without gaps."""
    strides: list[int] = []
    extent = 1
    for size in reversed(sizes):
        strides.insert(0, extent)
        extent *= size
    return ProgramTensor(storage, 0, tuple(sizes), tuple(strides), 0, name)


def step(op: StepOp, name: str, *operands: StepOperand) -> ProgramStep:
    """A step in float32."""
    return ProgramStep(op, 0, name, operands)


def elementwise(name: str, inputs: tuple[int, ...], output: int, made: ProgramStep) -> ProgramInstruction:
    """An instruction of one step."""
    return ProgramInstruction(Opcode.ELEMENTWISE, name, inputs, (output,), (), (made,), (0,))


def layer() -> Program:
    """`((x @ w + b).relu() * 0.5).softmax(-1)` of x f32[3, 4], w f32[4, 5]; b is a constant that a stride repeats."""
    kinds = [StorageKind.INPUT, StorageKind.INPUT, StorageKind.CONSTANT]
    kinds += [StorageKind.TEMPORARY] * 4 + [StorageKind.OUTPUT]
    shapes = [(3, 4), (4, 5), (5,), *[(3, 5)] * 5]
    places = {0: 0, 1: 1, 2: 0, 7: 0}
    tensors = [dense(index, shape, f"t{index}") for index, shape in enumerate(shapes)]
    storages = [
        ProgramStorage(kind, tensor.extent_bytes, *([places[index]] if index in places else []))
        for index, (kind, tensor) in enumerate(zip(kinds, tensors, strict=True))
    ]
    tensors.append(ProgramTensor(2, 0, (3, 5), (0, 1), 0, "b"))
    instructions = (
        ProgramInstruction(Opcode.ARGUMENT, "x", (), (0,)),
        ProgramInstruction(Opcode.ARGUMENT, "w", (), (1,)),
        ProgramInstruction(Opcode.PRODUCT, "mm", (0, 1), (3,), stored=(-1,)),
        elementwise("add", (3, 8), 4, step(StepOp.ADD, "add", FIRST, SECOND)),
        elementwise("relu", (4,), 5, step(StepOp.RELU, "relu", FIRST)),
        elementwise("mul", (5,), 6, step(StepOp.MUL, "mul", FIRST, number(0.5))),
        ProgramInstruction(Opcode.SOFTMAX, "softmax", (6,), (7,), (0,)),
        ProgramInstruction(Opcode.RESULT, "result", (7,)),
    )
    constant = bytes.fromhex("0000803f 00000040 00004040 000080bf 0000003f")
    return Program(tuple(storages), tuple(tensors), instructions, constant)
