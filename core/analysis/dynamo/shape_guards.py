"""Evaluation of torch's shape guards for known sizes."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping

from core.base.syntax import NOT_READ, expression
from core.report import Compilation

LISTED = re.compile(r"\b(size|stride)=\[([^\]]*)\]")
# Number that a guard compares with a Python value: `L['n'] == 4`.
NUMBER = re.compile(r"^(L\[.+\]) == (-?\d{1,18})$")
OF_SHAPES = (".size()[", ".stride()[", ".storage_offset()")
ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def tensor_sizes(compilation: Compilation) -> dict[str, tuple[int | None, ...]]:
    """Return source → sizes of each tensor that a compilation guards; a dynamic size is None."""
    return {source: sizes["size"] for source, sizes in _guarded_tensors(compilation) if "size" in sizes}


def size_values(compilation: Compilation) -> dict[str, int]:
    """Return guard expression → value, for the sizes, strides and numbers of a compilation."""
    values = {
        f"{source}.{kind}()[{index}]": size
        for source, sizes in _guarded_tensors(compilation)
        for kind, listed in sizes.items()
        for index, size in enumerate(listed)
        if size is not None
    }
    for guard in compilation.guards:
        number = NUMBER.match(guard.expression)
        if number:
            values[number[1]] = int(number[2])
    return values


def shape_guards(compilation: Compilation) -> tuple[str, ...]:
    """Return the conditions on sizes, strides and offsets of a compilation, without torch's comments."""
    lines = (line for guard in compilation.guards for line in guard.expression.split("\n"))
    return tuple(line.partition("  #")[0].strip() for line in lines if _is_of_shapes(line))


def holds(condition: str, values: Mapping[str, int]) -> bool | None:
    """Return True if a condition holds for known sizes; None if it contains anything else."""
    try:
        return bool(_value(expression(condition), values))
    except (*NOT_READ, LookupError, ZeroDivisionError, OverflowError):
        return None


def _is_of_shapes(line: str) -> bool:
    return any(mark in line for mark in OF_SHAPES) and not line.startswith("check_tensor(")


def _guarded_tensors(compilation: Compilation) -> Iterator[tuple[str, dict[str, tuple[int | None, ...]]]]:
    for guard in compilation.guards:
        if guard.kind == "TENSOR_MATCH":
            yield guard.source, {kind: _numbers(listed) for kind, listed in LISTED.findall(guard.expression)}


def _numbers(listed: str) -> tuple[int | None, ...]:
    return tuple(int(size) if size.strip().isdecimal() else None for size in listed.split(",") if size.strip())


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    """Return the value of an expression; raises LookupError for unknown names and anything but arithmetic."""
    named = values.get(ast.unparse(node))
    if named is not None:
        return named
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    if isinstance(node, ast.BinOp):
        return ARITHMETIC[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Compare):
        sides = [_value(side, values) for side in (node.left, *node.comparators)]
        return all(COMPARISONS[type(op)](*pair) for op, *pair in zip(node.ops, sides, sides[1:], strict=False))
    if isinstance(node, ast.BoolOp):
        parts = [_value(part, values) for part in node.values]
        return any(parts) if isinstance(node.op, ast.Or) else all(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        inner = _value(node.operand, values)
        return not inner if isinstance(node.op, ast.Not) else -inner
    raise LookupError(ast.dump(node)[:80])
