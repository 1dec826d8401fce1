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
    found: list[ExportedDim] = []
    shapes: dict[int, tuple[torch.Tensor, dict[int, Any]]] = {}
    texts: dict[str, str] = {}
    for asked in _asked(job):
        places = tuple(asked.at.split("+"))
        where = [item for place in places for item in dimensions(call, place, FIELD)]
        dim = _dim(asked)
        texts[dim.__name__] = _text(asked)
        found.append(ExportedDim(dim.__name__, places, _text(asked), _size(asked, where), asked.least, asked.most))
        for item in where:
            shapes.setdefault(id(item.tensor), (item.tensor, {}))[1][item.index] = dim
    if not found:
        return ExportShapes((), None, "")
    collected = ShapesCollection()
    for tensor, dims in shapes.values():
        collected[tensor] = dims
    spec = collected.dynamic_shapes(model, *call)
    return ExportShapes(tuple(found), spec, _written(spec, texts))


def _asked(job: CompileJob) -> tuple[DynamicDim, ...]:
    """The dimensions with bounds, then those that the job marks and that have none."""
    assert job.aoti is not None
    taken = {place for dim in job.aoti.dims for place in dim.at.split("+")}
    return (*job.aoti.dims, *(DynamicDim(at) for at in dict.fromkeys(job.marks) if at not in taken))


def _name(asked: DynamicDim) -> str:
    first = asked.at.split("+")[0]
    return BATCH if first == BATCH else re.sub(r"\W", "_", f"dim_{first}")


def _dim(asked: DynamicDim) -> Any:
    bounds = {"min": asked.least, "max": asked.most}
    try:
        return Dim(_name(asked), **{name: bound for name, bound in bounds.items() if bound is not None})
    except (AssertionError, ValueError) as error:
        raise JobError(FIELD, f"torch does not take `{asked.text}`: {error}") from None


def _text(asked: DynamicDim) -> str:
    bounds = [("min", asked.least), ("max", asked.most)]
    given = [f"{name}={bound}" for name, bound in bounds if bound is not None]
    return f"Dim({', '.join([repr(_name(asked)), *given])})"


def _size(asked: DynamicDim, where: Sequence[Dimension]) -> int:
    sizes = {int(item.tensor.shape[item.index]) for item in where}
    if len(sizes) != 1:
        told = " and ".join(map(str, sorted(sizes)))
        raise JobError(FIELD, f"`{asked.at}` has sizes {told}, and a Dim stands for one")
    return sizes.pop()


def _written(spec: Any, texts: Mapping[str, str]) -> str:
    """`dynamic_shapes` as one writes it."""
    return repr(tree_map_only(object, lambda dim: _Written(texts.get(getattr(dim, "__name__", ""), repr(dim))), spec))


class _Written(str):
    """A text that stands in another as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
