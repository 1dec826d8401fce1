"""Conditions of a job's calls: threads, Dynamo's config, grad mode, stance, input sizes.

A dimension of the inputs is named by a path. `0.1` is dimension 1 of argument 0. `mask.0` is dimension 0 of a
keyword argument. `0.2.1` is dimension 1 of the third element of argument 0. `batch` is dimension 0 of every
tensor whose first size equals that of the first tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo.config
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.errors import JobError
from core.job import BATCH, Conditions, OptionValue
from core.worker.config import check_option

Stance = Callable[[], AbstractContextManager[Any]]
FAIL = "fail_on_recompile"
# Positional and keyword arguments.
CallInputs = tuple[tuple[Any, ...], dict[str, Any]]


def set_threads(conditions: Conditions) -> None:
    """Set the intra-op threads that the job requests; Inductor's C++ uses the same number."""
    if conditions.threads:
        torch.set_num_threads(conditions.threads)


def set_dynamo(conditions: Conditions) -> None:
    """Set the job's options of `torch._dynamo.config`, overriding the file's values.

    Raises JobError for an unknown name or an invalid value. Setting an alias sets the option that the alias
    stands for.
    """
    for name, value in (conditions.dynamo or {}).items():
        field = f"conditions.dynamo.{name}"
        _check(field, name, value)
        try:
            setattr(torch._dynamo.config, name, value)
        except Exception as error:
            raise JobError(field, f"torch does not take it: {error}") from None


def _check(field: str, name: str, value: OptionValue) -> None:
    """Raise JobError for an unknown option, or a value of the wrong type.

    Torch would accept a value of the wrong type, and fail later.
    """
    check_option(field, "dynamo", name)
    current = getattr(torch._dynamo.config, name)
    fits = (
        current is None
        or value is None
        or type(value) is type(current)
        or (type(current) is float and type(value) is int)
    )
    if not fits:
        raise JobError(field, f"it is {current!r} in torch {torch.__version__}, which `{value}` is no value for")


@dataclass(frozen=True, slots=True)
class Mode:
    """Torch's grad and inference mode."""

    grad: bool
    inference: bool

    @classmethod
    def current(cls) -> Mode:
        """Return the current modes."""
        return cls(torch.is_grad_enabled(), torch.is_inference_mode_enabled())

    @contextmanager
    def on(self) -> Iterator[None]:
        """Set both modes in this context."""
        with torch.inference_mode(self.inference), torch.set_grad_enabled(self.grad):
            yield


def force_eager() -> AbstractContextManager[Any]:
    """Return the `force_eager` stance for eager calls.

    Without it, `cond`, `while_loop` and `flex_attention` would call torch.compile themselves.
    """
    return torch.compiler.set_stance("force_eager")


def stance_of(conditions: Conditions) -> Stance:
    """Return the stance for compiled calls."""
    if conditions.force_backend:
        return lambda: torch.compiler.set_stance("default", force_backend=conditions.force_backend)
    if conditions.stance != "default":
        return lambda: torch.compiler.set_stance(conditions.stance)
    return nullcontext


def refused(conditions: Conditions, error: BaseException) -> bool:
    """Return True if torch raised an error because the stance forbids compiling."""
    return conditions.stance == FAIL and isinstance(error, RuntimeError) and FAIL in str(error)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a tensor among the inputs."""

    tensor: torch.Tensor
    index: int


def resized(call: CallInputs, sizes: Mapping[str, int], seed: int) -> CallInputs:
    """Return the inputs with new sizes in the named dimensions; raises JobError if one is unknown.

    A new tensor has the original's dtype and random values: integers within the original's range, floats with the
    original's mean and standard deviation.
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
    """Mark the named dimensions by `torch._dynamo.mark_dynamic`; raises JobError for an unknown dimension."""
    for where in marks:
        for dimension in dimensions(call, where, "marks"):
            torch._dynamo.mark_dynamic(dimension.tensor, dimension.index)


def dimensions(call: CallInputs, where: str, field: str) -> list[Dimension]:
    """Return the dimensions that a path names (`0.1`, `batch`); raises JobError if there are none."""
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
    """Return the value at a path; None if there is none."""
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
    """Return a random tensor like `tensor`, with a new shape.

    The values are drawn on the CPU, so they are equal on every device.
    """
    values = tensor.detach().cpu()
    is_integral = not (values.dtype.is_floating_point or values.dtype.is_complex)
    random_values = (_random_integers if is_integral else _random_floats)(values, shape, generator)
    moved = random_values.to(dtype=tensor.dtype, device=tensor.device).requires_grad_(tensor.requires_grad)
    vars(moved).update({name: mark for name, mark in vars(tensor).items() if name.startswith("_dynamo_")})
    return moved


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
