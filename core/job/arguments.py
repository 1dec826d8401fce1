"""Text form of one call: `f32[8, 64], i64[8] < 1000, 2.5, flag=True`.

A tensor is written as torch prints it, dtype and shape; `< N` bounds the random integers of an index tensor. Everything
else is a Python literal; lists, tuples and dictionaries may contain tensors. The text is parsed with `ast` and never
evaluated. `inputs(batch=16)` is the model's own first call with other sizes, named as in a job's `sizes`:
`inputs({'0.1': 64})`.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from core.base.errors import JobError
from core.base.syntax import NOT_READ, expression
from core.base.words import number

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
OWN, OWN_CALLS = "inputs", "calls"
SIZE = r"batch|\w{1,100}(\.\d{1,3}){1,8}"
DTYPE_NAMES = {name: short for short, name in DTYPES.items()}
MAX_DIMENSIONS = 16  #: limit: dimensions of an input
MAX_ELEMENTS = 2**34  #: limit: elements of an input
MAX_CALL_CHARS = 10_000  #: limit: a call's arguments


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A random tensor: torch's dtype name, shape in elements, and for integers the exclusive upper bound."""

    dtype: str
    shape: tuple[int, ...]
    high: int | None = None


@dataclass(frozen=True, slots=True)
class CallSpec:
    """Positional and keyword arguments; leaves are `TensorSpec` or Python literals."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OwnCall:
    """The model's own first call with other sizes, named as in a job's `sizes`.

    With `as_given`, a model that lists calls of different sizes makes these calls unchanged instead.
    """

    sizes: dict[str, int]
    as_given: bool = False


def short(text: str, most: int, field: str) -> str:
    """Return a text for a parser, which blocks all sessions; raises JobError naming `field` if too long."""
    if len(text) > most:
        raise JobError(field, f"{number(len(text))} characters are more than the {number(most)} that are read")
    return text


@lru_cache(maxsize=256)
def parse_call(text: str, field: str = "calls") -> CallSpec | OwnCall:
    """Parse the text of one call; raises JobError naming `field`.

    A sweep of many cells parses the same few texts repeatedly, so results are cached: do not change them.
    """
    short(text, MAX_CALL_CHARS, field)
    try:
        node = expression(f"f({text})")
    except NOT_READ as error:
        raise JobError(field, f"`{text[:200]}` is not a list of arguments: {error}") from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise JobError(field, f"`{text[:200]}` is not a list of arguments")
    inner = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if any(keyword.arg is None for keyword in node.keywords):
        raise JobError(field, "`**` is not supported; write each keyword argument")
    if len({keyword.arg for keyword in node.keywords}) < len(node.keywords):
        raise JobError(field, "a keyword argument is given twice")
    try:
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in (OWN, OWN_CALLS):
            return OwnCall(_named_sizes(inner, field), as_given=inner.func.id == OWN_CALLS)
        return CallSpec(
            tuple(_value(arg, field) for arg in node.args),
            {str(keyword.arg): _value(keyword.value, field) for keyword in node.keywords},
        )
    except (RecursionError, ValueError):
        raise JobError(field, "the arguments are nested too deeply, or a number in them is too large") from None


def _named_sizes(node: ast.Call, field: str) -> dict[str, int]:
    """Return the sizes in `inputs(…)`: keyword arguments, or one dictionary."""
    keywords = [{keyword.arg: _literal(keyword.value, field)} for keyword in node.keywords]
    parts = [*keywords, *(_literal(argument, field) for argument in node.args)]
    sizes = {name: size for part in parts if isinstance(part, dict) for name, size in part.items()}
    valid = all(isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**40 for size in sizes.values())
    named = all(isinstance(name, str) and re.fullmatch(SIZE, name) for name in sizes)
    if not (valid and named and len(node.args) < 2 and all(isinstance(part, dict) for part in parts)):
        raise JobError(field, f"`{ast.unparse(node)[:120]}`: write it as inputs(batch=16) or inputs({{'0.1': 64}})")
    return sizes


def own_call(sizes: Mapping[str, int], as_given: bool = False) -> str:
    """Return the text of an `OwnCall`: `inputs(…)`, or `calls(…)` with `as_given`."""
    name = OWN_CALLS if as_given else OWN
    if all(where.isidentifier() for where in sizes):
        return f"{name}({', '.join(f'{where}={size}' for where, size in sizes.items())})"
    return f"{name}({dict(sizes)!r})"


def tensor_sizes(text: str) -> dict[str, int]:
    """Return dimension → size for the tensors of a call; raises JobError.

    A dimension has the same name as in `CompileJob.sizes`: `0.1` is dimension 1 of argument 0.
    """
    call = parse_call(text)
    if isinstance(call, OwnCall):
        return {}
    arguments = [*((str(place), value) for place, value in enumerate(call.args)), *call.kwargs.items()]
    return {where: size for name, value in arguments for where, size in _sizes_in(name, value)}


def _sizes_in(where: str, value: Any) -> Iterator[tuple[str, int]]:
    """Yield the sizes of a value's tensors, except of those in a dictionary, which can't be named."""
    if isinstance(value, (TensorSpec, list, tuple)):
        for place, inside in enumerate(value.shape if isinstance(value, TensorSpec) else value):
            name = f"{where}.{place}"
            yield from [(name, inside)] if isinstance(value, TensorSpec) else _sizes_in(name, inside)


def resized_call(text: str, size: int) -> str:
    """Return the text of a call with another batch size; raises JobError.

    The batch is dimension 0 of every tensor with the first tensor's size in dimension 0.
    """
    call = parse_call(text)
    if isinstance(call, OwnCall):
        return own_call({**call.sizes, "batch": size})
    first = next((spec.shape[0] for spec in _tensors((call.args, call.kwargs)) if spec.shape), None)
    if first is None:
        raise JobError("calls", f"`{text[:120]}` has no tensor with a batch")
    args, kwargs = _resize((call.args, call.kwargs), first, size)
    return ", ".join([*map(_as_typed, args), *(f"{name}={_as_typed(value)}" for name, value in kwargs.items())])


def _tensors(value: Any) -> Iterator[TensorSpec]:
    if isinstance(value, TensorSpec):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _tensors(element)


def _resize(value: Any, before: int, after: int) -> Any:
    if isinstance(value, TensorSpec):
        same = bool(value.shape) and value.shape[0] == before
        return replace(value, shape=(after, *value.shape[1:])) if same else value
    if isinstance(value, (list, tuple)):
        return type(value)(_resize(element, before, after) for element in value)
    if isinstance(value, dict):
        return {key: _resize(element, before, after) for key, element in value.items()}
    return value


def _as_typed(value: Any) -> str:
    """Return a value as it is written in a call."""
    if isinstance(value, TensorSpec):
        bound = f" < {value.high}" if value.high is not None else ""
        return f"{DTYPE_NAMES[value.dtype]}{list(value.shape)}{bound}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_as_typed(element)}" for key, element in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_as_typed, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{_as_typed(element)}, ' for element in value)})"
    return repr(value)


def _value(node: ast.expr, field: str) -> Any:
    if isinstance(node, ast.Compare):
        return _bounded_tensor(node, field)
    if isinstance(node, ast.Subscript):
        return _tensor(node, field)
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_value(element, field) for element in node.elts]
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


def _bounded_tensor(node: ast.Compare, field: str) -> TensorSpec:
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
    shape = tuple(_literal(size, field) for size in items)
    return TensorSpec(DTYPES[name], checked_shape(shape, field))


def checked_shape(shape: tuple[Any, ...], field: str) -> tuple[int, ...]:
    """Return the shape if its dimensions are integers from 0 up, and not too large; or raise JobError."""
    elements = 1
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**63:
            raise JobError(field, "every dimension of a shape is a whole number from 0 up")
        elements *= max(size, 1)
    if len(shape) > MAX_DIMENSIONS or elements > MAX_ELEMENTS:
        raise JobError(field, f"shape {list(shape)[:MAX_DIMENSIONS]} has more elements than a run may ask for")
    return shape
