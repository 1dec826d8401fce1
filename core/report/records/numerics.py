"""Records of eager and compiled held against float64, for a job that asks for its `numerics`."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import NodeAccuracy, ResultAccuracy
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNumericsRecord(Record):
    """Once a call, after it was compared: its outputs, its gradients, and the state that it changed, eager and
    compiled, each against a third copy of the model whose numbers are float64 from the inputs on.

    Casts of the model's own to narrower floats are left out there, as torch's accuracy tools leave them out.
    """

    call: int
    """number of the call, from 0"""
    results: tuple[ResultAccuracy, ...] = ()
    """a row each, `what` as in `compileboard_call`"""
    reason: str = ""
    """why nothing could be held against float64, empty if it was"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNumericsRecord(Record):
    """Once a graph of Dynamo's, after everything else, if the job asks for all nodes: their values as in its last call.

    The model is captured once more for it, which the rest of the log does not tell of. Each graph is run eagerly, in
    float64 and compiled, all three with eager's inputs; where a node draws random numbers, all go on with eager's. The
    compiled values are outputs that were added to the graph, each a copy from right after its node.
    """

    compilation: str
    """the compilation, as torch prints it: `0/0`"""
    nodes: tuple[NodeAccuracy, ...] = ()
    """the nodes that call something, in the order in which they run"""
    parts: int = 0
    """in so many pieces, each compiled by itself, the values were given out"""
    changed: float | None = None
    """by how much that changed the graph's own outputs at most, over their norm; null where that was not looked at"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""
    reason: str = ""
    """why nothing was compared, or why it ended early"""
    spent_s: float | None = None
    """seconds that it took"""


RECORDS: dict[str, type[Record]] = {
    "call_numerics": CallNumericsRecord,
    "graph_numerics": GraphNumericsRecord,
}
