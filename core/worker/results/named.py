"""Named results of a call: its outputs, the gradients, its inputs, and the state of the user's code.

A name reads `output[0]`, ``gradient of `0.weight` ``, `input x`, ``buffer `bn.running_mean` ``. Containers have names,
too, so that a list in place of a tuple is a difference like any other.
"""

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from core.worker.load import Arguments, ModelCopy

Leaves = dict[str, Any]
MAX_LEAVES = 20_000  #: limit: values of a result that are compared
MAX_DEPTH = 24  #: limit: nested containers of a result
MAX_COPIED_BYTES = 64 * 2**20  #: limit: values copied for a later comparison
# Addresses that `id()` returns in a 64-bit process.
LEAST_ADDRESS, ADDRESSES, ALIGNMENT = 2**32, 2**48, 16
# Not traversed: their contents aren't results, or are compared as the model's state.
OPAQUE = (torch.nn.Module, ModuleType, FunctionType, BuiltinFunctionType, MethodType, type, torch.dtype, torch.device)
SIMPLE = (torch.Tensor, bool, int, float, str, type(None), list, tuple, dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Container:
    """A tuple, dict, dataclass or object: its type's name and the names of its elements."""

    type: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        numbered = all(key[0] in "[{" and key[1:-1].isdecimal() for key in self.keys)
        held = str(len(self.keys)) if numbered else ", ".join(key.strip("[].") for key in self.keys)
        return f"{self.type} of {held}"[:120]


def leaves(name: str, value: Any, objects: bool = True) -> Leaves:
    """Return all leaves and containers of a value by name, at most `MAX_LEAVES`.

    If `objects` is True, objects of any class are traversed too. The values of a dict whose keys are all object ids
    are named by their order: `[id 0]`.
    """
    found: Leaves = {}
    for where, leaf in _walk(name, value, objects, MAX_DEPTH):
        found[where] = leaf
        if len(found) >= MAX_LEAVES:
            break
    return found


def _walk(name: str, value: Any, objects: bool, depth: int) -> Iterator[tuple[str, Any]]:
    if type(value).__name__ == "ndarray" and value.dtype.kind in "biufc":
        value = torch.as_tensor(value)
    held = _held(value, objects) if depth else None
    if held is None:
        yield name, value
        return
    yield name, Container(type(value).__qualname__, tuple(suffix for suffix, _ in held))
    for suffix, item in held:
        yield from _walk(name + suffix, item, objects, depth - 1)


def _held(value: Any, objects: bool) -> list[tuple[str, Any]] | None:
    """Return a container's elements, each with the suffix of its name, such as `[0]`; None for a leaf."""
    if isinstance(value, torch.Tensor):
        wrapper = is_traceable_wrapper_subclass(value)
        return _attributes(value, value.__tensor_flatten__()[0]) if wrapper else None  # type: ignore[attr-defined]
    if isinstance(value, OPAQUE):
        return None
    if dataclasses.is_dataclass(value):
        return _attributes(value, (field.name for field in dataclasses.fields(value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _attributes(value, value._fields)
    if isinstance(value, Mapping):
        by_id = bool(value) and all(map(_may_be_id, value))
        keys = (f"id {place}" if by_id else repr(key) for place, key in enumerate(value))
        return [(f"[{key}]"[:80], item) for key, item in zip(keys, value.values(), strict=True)]
    if isinstance(value, (set, frozenset)) and any(isinstance(item, torch.Tensor) for item in value):
        return [(f"{{{index}}}", item) for index, item in enumerate(sorted(value, key=_rank))]
    if isinstance(value, (list, tuple, deque)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if objects and hasattr(value, "__dict__"):
        return _attributes(value, (name for name in vars(value) if not name.startswith("_")))
    return None


def _may_be_id(key: Any) -> bool:
    """Return True if a key may be the address of a Python object, which differs in each model copy."""
    return type(key) is int and LEAST_ADDRESS <= key < ADDRESSES and key % ALIGNMENT == 0


def _rank(leaf: Any) -> tuple[Any, ...]:
    """Return a sort key for set elements; a tensor's key is its dtype, shape and sum of magnitudes."""
    if not isinstance(leaf, torch.Tensor):
        return ("", type(leaf).__name__, repr(leaf))
    values = leaf.detach().abs().double() if leaf.layout == torch.strided and not leaf.is_quantized else torch.zeros(1)
    return ("tensor", str(leaf.dtype), tuple(leaf.shape), float(values.sum()))


def _attributes(value: Any, names: Iterable[str]) -> list[tuple[str, Any]]:
    return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]


def inputs_of(call: Arguments) -> Leaves:
    """Return the inputs by name, positional ones by index."""
    args, kwargs = call
    named = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    return {where: leaf for name, value in named.items() for where, leaf in leaves(f"input {name}", value).items()}


def gradients_of(twin: ModelCopy, call: Arguments, wanted: Iterable[torch.Tensor]) -> Leaves:
    """Return the gradients of a training call by their tensor's name; None for a missing gradient."""
    ids = {id(leaf) for leaf in wanted}
    named = {**parameters_of(twin), **inputs_of(call), **_globals(twin)}
    return {
        f"gradient of {name.removeprefix('parameter ')}": leaf.grad for name, leaf in named.items() if id(leaf) in ids
    }


def parameters_of(twin: ModelCopy) -> Leaves:
    """Return the parameters by name; a shared parameter only under its first name."""
    return _once(
        (f"parameter `{prefix}{name}`", parameter)
        for prefix, module in twin.named_modules()
        for name, parameter in module.named_parameters()
    )


def state_of(twin: ModelCopy) -> Leaves:
    """Return the state between calls: parameters, buffers, module attributes, and globals of the file."""
    buffers = _once(
        (f"buffer `{prefix}{name}`", buffer)
        for prefix, module in twin.named_modules()
        for name, buffer in module.named_buffers()
    )
    return {**_module_attributes(twin), **_globals(twin), **buffers, **parameters_of(twin)}


def _once(items: Iterable[tuple[str, Any]]) -> Leaves:
    first = {id(item): (name, item) for name, item in reversed(list(items))}
    return dict(reversed(first.values()))


def _module_attributes(twin: ModelCopy) -> Leaves:
    found: Leaves = {}
    modules = _once(
        (f"{prefix}{path}.".lstrip("."), module)
        for prefix, top in twin.named_modules()
        for path, module in top.named_modules()
    )
    for path, module in modules.items():
        found.update(_simple(f"attribute `{path}{{}}`", vars(module)))
    return found


def _globals(twin: ModelCopy) -> Leaves:
    return _simple("global `{}`", {name: value for name, value in twin.values().items() if not name.endswith("inputs")})


def _simple(name: str, values: Mapping[str, Any]) -> Leaves:
    return {
        where: leaf
        for key, value in values.items()
        if not key.startswith("_") and isinstance(value, SIMPLE)
        for where, leaf in leaves(name.format(key), value, objects=False).items()
    }


def aliases(outputs: Leaves, owners: Leaves) -> dict[str, str]:
    """Return output → name of the input, state value or earlier output with the same memory."""
    first: dict[int, str] = {}
    for name, leaf in owners.items():
        first.setdefault(_storage(leaf), name)
    first.pop(0, None)
    found = {}
    for name, leaf in outputs.items():
        storage = _storage(leaf)
        if storage and storage in first:
            found[name] = first[storage]
        elif storage:
            first[storage] = name
    return found


def _storage(leaf: Any) -> int:
    """Return the address of a tensor's memory; 0 if it has none or the value is no tensor."""
    if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided or is_traceable_wrapper_subclass(leaf):
        return 0
    try:
        return leaf.untyped_storage().data_ptr()
    except RuntimeError:
        return 0


class Snapshot:
    """Leaves before a call, to detect changes.

    A tensor that is too large to copy is checked by its version.
    """

    def __init__(self, before: Leaves) -> None:
        self.by_version: set[str] = set()
        self._room = MAX_COPIED_BYTES
        self._before = {name: self._kept(name, leaf) for name, leaf in before.items()}

    def _kept(self, name: str, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        size = leaf.numel() * leaf.element_size() if leaf.layout == torch.strided else self._room + 1
        if size > self._room:
            self.by_version.add(name)
            return id(leaf), _version(leaf)
        self._room -= size
        return leaf.detach().clone()

    def changed(self, name: str, leaf: Any) -> bool:
        """Return True if a leaf has changed."""
        before = self._before.get(name)
        if not isinstance(leaf, torch.Tensor):
            return isinstance(before, (torch.Tensor, tuple)) or not alike(before, leaf)
        if isinstance(before, torch.Tensor):
            return not equal(before, leaf)
        return bool(before != (id(leaf), _version(leaf)))


def _version(tensor: torch.Tensor) -> int:
    return -1 if tensor.is_inference() else int(tensor._version)


def equal(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return True if two tensors are equal; NaN equals NaN.

    Torch functions of tensor subclasses are disabled: the file's subclass is a different class in each model copy, and
    torch can't dispatch one function on both classes.
    """
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return torch.equal(left, right) or bool(((left == right) | (left.isnan() & right.isnan())).all())
    except (RuntimeError, TypeError):
        return left is right


def alike(left: Any, right: Any) -> bool:
    """Return True if two Python values are equal, or of one class that has no equality."""
    if type(left).__qualname__ != type(right).__qualname__:
        return False
    if isinstance(left, float):
        return left == right or (left != left and right != right)
    if _compares_by_identity(left):
        return True
    try:
        return bool(left == right)
    except Exception:
        return True


def _compares_by_identity(value: Any) -> bool:
    plain = isinstance(value, (torch.dtype, torch.device))
    return not plain and (isinstance(value, OPAQUE) or getattr(type(value), "__eq__", None) is object.__eq__)
