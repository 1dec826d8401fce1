"""The text of one call: `f32[8, 64], i64[8] < 1000, 2.5, flag=True`.

A tensor is written as torch prints it, dtype and shape; `< N` bounds the random integers of an index tensor.
Everything else is a Python literal; lists, tuples and dictionaries may hold tensors. The text is read with `ast`
and never evaluated.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from core.errors import JobError
from core.syntax import NOT_READ, expression

DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "b8": "bool",
    "c64": "complex64",
    "c128": "complex128",
}
MAX_DIMENSIONS = 16
MAX_ELEMENTS = 2**34


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One random tensor: torch's dtype name, shape in elements, and for integers the exclusive upper bound."""

    dtype: str
    shape: tuple[int, ...]
    high: int | None = None


@dataclass(frozen=True, slots=True)
class CallSpec:
    """Positional and keyword arguments; leaves are `TensorSpec` or Python literals."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def parse_call(text: str, field: str = "calls") -> CallSpec:
    """Read the text of one call; raises JobError naming `field`."""
    try:
        node = expression(f"f({text})")
    except NOT_READ as error:
        raise JobError(field, f"`{text[:200]}` is not a list of arguments: {error}") from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise JobError(field, f"`{text[:200]}` is not a list of arguments")
    if any(keyword.arg is None for keyword in node.keywords):
        raise JobError(field, "`**` is not supported; write each keyword argument")
    if len({keyword.arg for keyword in node.keywords}) < len(node.keywords):
        raise JobError(field, "a keyword argument is given twice")
    try:
        return CallSpec(
            tuple(_value(arg, field) for arg in node.args),
            {str(keyword.arg): _value(keyword.value, field) for keyword in node.keywords},
        )
    except (RecursionError, ValueError):
        raise JobError(field, "the arguments are nested too deeply, or a number in them is too large") from None


def _value(node: ast.expr, field: str) -> Any:
    if isinstance(node, ast.Compare):
        return _bounded(node, field)
    if isinstance(node, ast.Subscript):
        return _tensor(node, field)
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_value(item, field) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict):
        return {_key(key, field): _value(value, field) for key, value in zip(node.keys, node.values, strict=True)}
    return _literal(node, field)


def _key(node: ast.expr | None, field: str) -> Any:
    if node is None:
        raise JobError(field, "`**` is not supported; write each item of the dictionary")
    key = _literal(node, field)
    try:
        hash(key)
    except TypeError:
        raise JobError(field, f"`{ast.unparse(node)[:120]}` cannot be the key of a dictionary") from None
    return key


def _literal(node: ast.expr, field: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise JobError(
            field, f"`{ast.unparse(node)[:120]}` is neither a tensor such as f32[8, 64] nor a literal"
        ) from None


def _bounded(node: ast.Compare, field: str) -> TensorSpec:
    bound = node.comparators[0]
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt) or not isinstance(node.left, ast.Subscript):
        raise JobError(field, f"`{ast.unparse(node)[:120]}`: write a bound as i64[8, 64] < 1000")
    spec = _tensor(node.left, field)
    high = _literal(bound, field)
    if not isinstance(high, int) or isinstance(high, bool) or not 1 <= high < 2**63 or spec.dtype[0] not in "iu":
        raise JobError(field, f"`{ast.unparse(node)[:120]}`: only an integer tensor takes a bound, from 1 to 2**63 - 1")
    return TensorSpec(spec.dtype, spec.shape, high)


def _tensor(node: ast.Subscript, field: str) -> TensorSpec:
    name = node.value.id if isinstance(node.value, ast.Name) else ast.unparse(node.value)
    if name not in DTYPES:
        raise JobError(field, f"`{name[:60]}` is no dtype; known are {', '.join(DTYPES)}")
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shape = tuple(_literal(item, field) for item in items)
    return TensorSpec(DTYPES[name], checked_shape(shape, field))


def checked_shape(shape: tuple[Any, ...], field: str) -> tuple[int, ...]:
    """The shape, if every dimension is a number from 0 up and the whole is no absurdity; raises JobError."""
    elements = 1
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**63:
            raise JobError(field, "every dimension of a shape is a whole number from 0 up")
        elements *= max(size, 1)
    if len(shape) > MAX_DIMENSIONS or elements > MAX_ELEMENTS:
        raise JobError(field, f"shape {list(shape)[:MAX_DIMENSIONS]} has more elements than a run may ask for")
    return shape
