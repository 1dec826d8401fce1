"""A witness in a run: code before a sample's own that writes down the graphs that torch lowers, and its passes."""

from typing import NamedTuple

from core import Run
from core.report import FxNode, Report

WITNESS = """
import json as _json
import traceback as _traceback
from torch._inductor.graph import GraphLowering as _Lowering

_lower = _Lowering.__init__

def _line(node):
    lines = [line for line in node.stack_trace.splitlines() if line.startswith("  File ")] if node.stack_trace else []
    if not lines:
        return None
    path, number = lines[-1].split(", ")[:2]
    return [path.removeprefix('  File "').removesuffix('"'), int(number.removeprefix("line "))]

def _written(node):
    value = node.meta.get("val")
    shape = [str(size) for size in value.shape] if hasattr(value, "shape") else None
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    return [node.name, node.op, shape, _line(node), [str(path) for path, _ in stack.values()][-1:]]

def _witnessed(self, gm, *args, **kwargs):
    if type(self) is _Lowering and not kwargs.get("is_const_graph"):
        with open(WITNESS, "a") as file:
            file.write(_json.dumps([_written(node) for node in gm.graph.nodes]) + "\\n")
    _lower(self, gm, *args, **kwargs)

from torch.fx.passes.graph_transform_observer import GraphTransformObserver as _Observer

_enter, _leave, _texts = _Observer.__enter__, _Observer.__exit__, []

def _naive_enter(self):
    _texts.append(str(self.gm.graph))
    return _enter(self)

def _naive_leave(self, *error):
    result = _leave(self, *error)
    if _texts.pop() != str(self.gm.graph) and not _texts:
        with open(WITNESS + ".passes", "a") as file:
            file.write(self.passname + "\\n")
    return result

# The worker loads the code twice.
if _lower.__name__ == "__init__":
    _Lowering.__init__ = _witnessed
    _Observer.__enter__, _Observer.__exit__ = _naive_enter, _naive_leave
"""


class Seen(NamedTuple):
    """A node as torch had it: its shape, the user's line, and the module where torch itself names one."""

    name: str
    op: str
    shape: tuple[str, ...] | None
    line: tuple[str, int] | None
    module: str


class Both(NamedTuple):
    """Graph by graph, torch's nodes and ours; the passes whose graph's text changed; and our report with its run."""

    torch: list[list[Seen]]
    ours: list[tuple[FxNode, ...]]
    passes: list[str]
    report: Report
    run: Run
