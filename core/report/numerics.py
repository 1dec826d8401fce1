"""How far eager and compiled are from the same in float64: what a call leaves, and the nodes of its graphs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Eager and compiled of one value, against the same in float64.

    An error is the norm of the difference over the norm in float64; of whole numbers and booleans, the part of the
    elements that differ. `max_abs` is the largest difference of one element. All leave out elements that are NaN or
    infinite on one side alone, which `eager_odd` and `compiled_odd` count. `apart` is compiled against eager, over
    eager's norm. None is what could not be computed. `same` says whether compiled is as right as eager, `tolerance` is
    what the dtype allows, and `reason` is why it is right beyond that, or why it cannot be told.
    """

    dtype: str
    elements: int = 0
    eager_error: float | None = None
    compiled_error: float | None = None
    eager_max_abs: float | None = None
    compiled_max_abs: float | None = None
    eager_odd: int = 0
    compiled_odd: int = 0
    apart: float | None = None
    tolerance: float = 0.0
    same: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResultAccuracy:
    """One thing that a call left, by its name: `output[0]`, ``gradient of `0.weight` ``, ``buffer `seen` ``."""

    what: str
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class CallNumerics:
    """What one call left; `reason` is why nothing could be held against float64, and `narrowed` are the ops that torch
    does not have in float64, which were computed in float32 there.
    """

    call: int
    results: tuple[ResultAccuracy, ...] = ()
    reason: str = ""
    narrowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeAccuracy:
    """One node of a graph that calls something, in the order in which they run; `left_out` is why it was not
    compared.
    """

    name: str
    accuracy: Accuracy | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class GraphNumerics:
    """The graph that Dynamo captured in one compilation, as it was called last.

    All three began with eager's inputs, and took eager's numbers where a node draws random ones. To see compiled
    values, the graph was compiled again with them among its outputs, in `parts` pieces, which may change what is fused:
    `changed` is by how much that changed the graph's own outputs, over their norm, None where that was not looked at.
    `narrowed` is as of a call, `reason` why nothing was compared, or why it ended early.
    """

    compilation: str
    nodes: tuple[NodeAccuracy, ...] = ()
    parts: int = 0
    changed: float | None = None
    narrowed: tuple[str, ...] = ()
    reason: str = ""
    spent_s: float | None = None
