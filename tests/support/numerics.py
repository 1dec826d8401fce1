"""The transformer block with errors against float64, as a worker would record them: gelu is the first that differs."""

from dataclasses import replace
from typing import Any

import msgspec

from core.report import Accuracy, GraphNumerics, NodeAccuracy
from tests.support.homes import record
from tests.support.places import TRACES

RIGHT = Accuracy("float32", 8, 1e-7, 2e-7, 1e-6, 1e-6, apart=2e-7, tolerance=2e-5, same=True)
EXACT = replace(RIGHT, eager_error=0.0, compiled_error=0.0, apart=0.0)
WRONG = replace(RIGHT, compiled_error=0.5, compiled_max_abs=3.0, apart=0.5, same=False)
GRAPH = GraphNumerics(
    "0/0",
    (
        NodeAccuracy("layer_norm", RIGHT),
        NodeAccuracy("linear", EXACT),
        NodeAccuracy("qkv", left_out="a view of another value"),
        NodeAccuracy("gelu", WRONG),
        NodeAccuracy("x_1", WRONG),
    ),
    parts=1,
    changed=0.0,
)


def numerics_log(*results: tuple[str, Accuracy], graph: GraphNumerics | None = None, reason: str = "") -> bytes:
    """The log with results of its call by their names, and with the nodes of a graph."""
    rows = [{"what": what, "accuracy": accuracy} for what, accuracy in results]
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    log += _said("call_numerics", {"call": 0, "results": rows, "reason": reason})
    return log + (_said("graph_numerics", graph) if graph else b"")


def _said(what: str, data: Any) -> bytes:
    return record(f"compileboard_{what}", {"schema": 1, **msgspec.to_builtins(data)})
