"""Numbers of the program's file, as `core/accelerator/runtime/opcodes.h` has them."""

from __future__ import annotations

from enum import IntEnum

DTYPES = ("float32", "bfloat16", "int64", "bool")
ITEM_BYTES = (4, 2, 8, 1)
MAX_RANK = 8
# The passes over a program in the order in which they are made, each with its bit.
PASSES = {
    "fold-constants": 1,
    "drop-no-ops": 2,
    "drop-dead-code": 4,
    "fuse-products": 8,
    "fuse-elementwise": 16,
    "plan-memory": 32,
}


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
    """Kind of a step's operand: nothing, a tensor, an earlier step, a number, the product."""

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
