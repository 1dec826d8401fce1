"""Bytes of a tensor's storage, from its shape and stride as generated code writes them, symbols included."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence

from core.base.syntax import NOT_READ, expression
from core.report import Buffer

# 32 TiB: more is no tensor of a machine, and sums of many must be numbers of a table.
LARGEST_BYTES = 2**45
BITS = re.compile(r"^[a-z]+(\d{1,3})")
OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class StorageSizes:
    """Bytes of storages from the text of their shapes."""

    def __init__(self, buffers: Mapping[str, Buffer], sizes: Mapping[str, int]) -> None:
        self._buffers = buffers
        self._sizes = sizes

    def of_text(self, shape: str, stride: str, dtype: str) -> int | None:
        """Return the bytes for shape and stride as Python tuples; None if unknown."""
        return _bytes(self._tuple(shape), self._tuple(stride), dtype)

    def knows(self, name: str) -> bool:
        """Return True if a buffer is a tensor; without records every buffer may be."""
        return not self._buffers or name in self._buffers

    def of_buffer(self, name: str) -> int | None:
        """Return the bytes of a buffer's recorded shape; None if not recorded."""
        buffer = self._buffers.get(name)
        if buffer is None:
            return None
        return self.of_text(
            f"({''.join(f'{size}, ' for size in buffer.shape)})",
            f"({''.join(f'{size}, ' for size in buffer.stride)})",
            buffer.dtype,
        )

    def _tuple(self, text: str) -> list[int] | None:
        try:
            tree = expression(text)
            return [_value(element, self._sizes) for element in tree.elts] if isinstance(tree, ast.Tuple) else None
        except (*NOT_READ, LookupError, ZeroDivisionError):
            return None


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    """Return the integer value of an expression with symbols; raises LookupError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        return {"max": max, "min": min}[node.func.id](_value(argument, sizes) for argument in node.args)
    raise LookupError(ast.dump(node))


def _bytes(shape: Sequence[int] | None, stride: Sequence[int] | None, dtype: str) -> int | None:
    if shape is None or stride is None or len(shape) != len(stride):
        return None
    bits = BITS.match(dtype)
    element_bytes = max(1, int(bits[1]) // 8) if bits else 1
    if 0 in shape:
        return 0
    total = element_bytes * (1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)))
    return total if 0 <= total <= LARGEST_BYTES else None
