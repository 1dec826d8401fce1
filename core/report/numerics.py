"""Errors of eager and compiled against the same in float64: the results of a call, and the nodes of its graphs."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.record import Record


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Eager and compiled of one value, against the same in float64.

    An error is the norm of the difference over the norm in float64; of whole numbers and booleans, the part of the
    elements that differ. `max_abs` is the largest difference of one element. All leave out elements that are NaN or
    infinite on one side alone, which `eager_odd` and `compiled_odd` count. `apart` is compiled against eager, over
    eager's norm. None is a value that could not be computed. `same` is True if compiled is as right as eager,
    `tolerance` is the dtype's, and `reason` is why it is right beyond that, or why it cannot be decided.
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
    """A result of a call, by its name: `output[0]`, ``gradient of `0.weight` ``, ``buffer `seen` ``."""

    what: str
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class CallNumerics(Record):
    """The outputs, gradients and changed state of one call, eager and compiled, each compared with a third copy of the
    model that computes in float64 from its inputs: logged once a call.

    Casts of the model's own to narrower floats are left out there, as torch's accuracy tools leave them out.
    """

    call: int
    """number of the call, from 0"""
    results: tuple[ResultAccuracy, ...] = ()
    """a row each, `what` as in `compileboard_call`"""
    reason: str = ""
    """why nothing could be compared with float64, empty if it was"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""


@dataclass(frozen=True, slots=True)
class NodeAccuracy:
    """A node of a graph that calls something, in execution order; `left_out` is why it was not compared."""

    name: str
    accuracy: Accuracy | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class GraphNumerics(Record):
    """Values of all nodes of a graph that Dynamo captured, in its last call: logged once a graph, if the job asks.

    The model is captured once more for it, which the rest of the log does not show. Each graph is run eagerly, in
    float64 and compiled, all three with eager's inputs; if a node draws random numbers, all continue with eager's. The
    compiled values are outputs that were added to the graph, each a copy from right after its node.
    """

    compilation: str
    """the compilation, as torch prints it: `0/0`"""
    nodes: tuple[NodeAccuracy, ...] = ()
    """the nodes that call something, in execution order"""
    parts: int = 0
    """number of separately compiled pieces that returned the values, which may change the fusion"""
    changed: float | None = None
    """largest change of the graph's own outputs by that, over their norm; null if not compared"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""
    reason: str = ""
    """why nothing was compared, or why it ended early"""
    spent_s: float | None = None
    """seconds that it took"""
