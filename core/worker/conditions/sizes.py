"""Inputs with other sizes, and dimensions that are marked dynamic.

A dimension reads `0.1`, dimension 1 of argument 0; `mask.0` of a keyword argument; `0.2.1`, dimension 1 of the third
thing in argument 0; and `batch`, dimension 0 of every tensor that has the size of the first one's there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.errors import JobError
from core.job import BATCH

# Positional and keyword arguments.
CallInputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a tensor among the inputs."""

    tensor: torch.Tensor
    index: int


def resized(call: CallInputs, sizes: Mapping[str, int], seed: int) -> CallInputs:
    """The same inputs with tensors of other sizes in their places; raises JobError.

    A tensor made anew has the dtype of the one that was there, and random numbers within the range of its values: of
    their mean and spread where it holds floating numbers.
    """
    shapes: dict[int, list[int]] = {}
    for where, size in sizes.items():
        for dimension in dimensions(call, where, f"sizes.{where}"):
            shape = shapes.setdefault(id(dimension.tensor), list(dimension.tensor.shape))
            shape[dimension.index] = size
    if not shapes:
        return call
    generator = torch.Generator().manual_seed(seed)

    def with_size(tensor: torch.Tensor) -> torch.Tensor:
        shape = shapes.get(id(tensor), list(tensor.shape))
        return tensor if shape == list(tensor.shape) else _random_like(tensor, shape, generator)

    inputs: CallInputs = tree_map_only(torch.Tensor, with_size, call)
    return inputs


def mark_dynamic(call: CallInputs, marks: Sequence[str]) -> None:
    """Mark dimensions of the inputs, as the user's code would; raises JobError."""
    for where in marks:
        for dimension in dimensions(call, where, "marks"):
            torch._dynamo.mark_dynamic(dimension.tensor, dimension.index)


def dimensions(call: CallInputs, where: str, field: str) -> list[Dimension]:
    """The dimensions that a text names; raises JobError where there is none."""
    if where == BATCH:
        return list(_batch(call, field))
    *path, last = where.split(".")
    tensor = _value_at(call, path)
    what = f"`{'.'.join(path)}`"
    if not isinstance(tensor, torch.Tensor):
        raise JobError(field, f"{what} is no tensor among the inputs of this model")
    if int(last) >= tensor.dim():
        raise JobError(field, f"{what} has {tensor.dim()} dimensions, counted from 0")
    return [Dimension(tensor, int(last))]


def _batch(call: CallInputs, field: str) -> Iterator[Dimension]:
    tensors = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.dim()]
    if not tensors:
        raise JobError(field, "no input of this model is a tensor with dimensions")
    batched = {id(leaf): leaf for leaf in tensors if leaf.shape[0] == tensors[0].shape[0]}
    yield from (Dimension(leaf, 0) for leaf in batched.values())


def _value_at(call: CallInputs, path: Sequence[str]) -> Any:
    """Return the value at a place; None if there is none."""
    args, kwargs = call
    first, *rest = path
    value: Any = kwargs.get(first)
    if first.isdecimal():
        value = args[int(first)] if int(first) < len(args) else None
    for index in rest:
        inside = isinstance(value, (list, tuple)) and index.isdecimal() and int(index) < len(value)
        value = value[int(index)] if inside else None
    return value


def _random_like(tensor: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    """A tensor of another shape like one that is there, on the CPU first, so that every device gets the same."""
    values = tensor.detach().cpu()
    random_values = (
        _random_integers(values, shape, generator)
        if _is_integral(values.dtype)
        else _random_floats(values, shape, generator)
    )
    moved = random_values.to(dtype=tensor.dtype, device=tensor.device).requires_grad_(tensor.requires_grad)
    vars(moved).update({name: mark for name, mark in vars(tensor).items() if name.startswith("_dynamo_")})
    return moved


def _is_integral(dtype: torch.dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex)


def _random_integers(values: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    if values.dtype == torch.bool or not values.numel():
        return torch.randint(0, 2, shape, generator=generator)
    high = min(int(values.max()) + 1, torch.iinfo(torch.int64).max)
    return torch.randint(int(values.min()), high, shape, generator=generator)


def _random_floats(values: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    if values.is_complex():
        return torch.randn(shape, generator=generator, dtype=torch.complex64)
    normal = torch.randn(shape, generator=generator)
    existing = values.to(torch.float32)
    if values.numel() < 2 or not bool(existing.isfinite().all()):
        return normal
    return (normal * existing.std() + existing.mean()).clamp(existing.min(), existing.max())
