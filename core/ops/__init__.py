"""ATen ops: their kind of work, and their cost."""

from core.ops.costs import OP_CLASSES, aten_name, op_class

__all__ = [
    "OP_CLASSES",
    "aten_name",
    "op_class",
]
