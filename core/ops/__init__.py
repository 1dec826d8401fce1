"""ATen ops: their kind of work, and their cost."""

from core.ops.op_class import OP_CLASSES, aten_name, op_class

__all__ = [
    "OP_CLASSES",
    "aten_name",
    "op_class",
]
