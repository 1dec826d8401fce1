"""The dynamic dimensions of an export: what the job asks for, as torch takes it and as one writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import Dim, ShapesCollection
from torch.utils._pytree import tree_map_only

from core.base.errors import JobError
from core.job import BATCH, CompileJob, DynamicDim
from core.report import ExportedDim
from core.worker.conditions.sizes import Dimension, dimensions
from core.worker.load import Arguments

FIELD = "aoti.dims"


@dataclass(frozen=True, slots=True)
class ExportShapes:
    """The dimensions for the report, and what `dynamic_shapes` of torch.export is given; None where all is static."""

    dims: tuple[ExportedDim, ...]
    spec: Any
    text: str


def export_shapes(job: CompileJob, model: torch.nn.Module, call: Arguments) -> ExportShapes:
    """The dynamic dimensions of a call; raises JobError where an input has none of that name."""
    exported: list[ExportedDim] = []
    shapes: dict[int, tuple[torch.Tensor, dict[int, Any]]] = {}
    texts: dict[str, str] = {}
    for requested in _requested_dims(job):
        places = tuple(requested.at.split("+"))
        matches = [dimension for place in places for dimension in dimensions(call, place, FIELD)]
        dim = _dim(requested)
        texts[dim.__name__] = _text(requested)
        exported.append(
            ExportedDim(
                dim.__name__, places, _text(requested), _size(requested, matches), requested.least, requested.most
            )
        )
        for dimension in matches:
            shapes.setdefault(id(dimension.tensor), (dimension.tensor, {}))[1][dimension.index] = dim
    if not exported:
        return ExportShapes((), None, "")
    collected = ShapesCollection()
    for tensor, dims in shapes.values():
        collected[tensor] = dims
    spec = collected.dynamic_shapes(model, *call)
    return ExportShapes(tuple(exported), spec, _written(spec, texts))


def _requested_dims(job: CompileJob) -> tuple[DynamicDim, ...]:
    """The dimensions with bounds, then those that the job marks and that have none."""
    assert job.aoti is not None
    bounded = {place for dim in job.aoti.dims for place in dim.at.split("+")}
    return (*job.aoti.dims, *(DynamicDim(at) for at in dict.fromkeys(job.marks) if at not in bounded))


def _name(requested: DynamicDim) -> str:
    first = requested.at.split("+")[0]
    return BATCH if first == BATCH else re.sub(r"\W", "_", f"dim_{first}")


def _dim(requested: DynamicDim) -> Any:
    bounds = {"min": requested.least, "max": requested.most}
    try:
        return Dim(_name(requested), **{name: bound for name, bound in bounds.items() if bound is not None})
    except (AssertionError, ValueError) as error:
        raise JobError(FIELD, f"torch does not take `{requested.text}`: {error}") from None


def _text(requested: DynamicDim) -> str:
    bounds = [("min", requested.least), ("max", requested.most)]
    limits = [f"{name}={bound}" for name, bound in bounds if bound is not None]
    return f"Dim({', '.join([repr(_name(requested)), *limits])})"


def _size(requested: DynamicDim, matches: Sequence[Dimension]) -> int:
    sizes = {int(dimension.tensor.shape[dimension.index]) for dimension in matches}
    if len(sizes) != 1:
        size_words = " and ".join(map(str, sorted(sizes)))
        raise JobError(FIELD, f"`{requested.at}` has sizes {size_words}, and a Dim stands for one")
    return sizes.pop()


def _written(spec: Any, texts: Mapping[str, str]) -> str:
    """`dynamic_shapes` as one writes it."""
    return repr(tree_map_only(object, lambda dim: _DimsText(texts.get(getattr(dim, "__name__", ""), repr(dim))), spec))


class _DimsText(str):
    """A text that stands in another as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
