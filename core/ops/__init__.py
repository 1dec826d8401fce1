"""ATen ops: which kind of work each is, and what it costs."""

from core.ops.op_class import OP_CLASSES, aten_name, op_class

__all__ = [
    "OP_CLASSES",
    "aten_name",
    "op_class",
]
