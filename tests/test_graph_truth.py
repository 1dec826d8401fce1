"""What is on screen against what torch had in its hands: graphs as they were lowered, passes, fused nodes, kernels."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from core import CompileJob, LocalEngine, Model, Report, Runner, Store, load_text, open_graph, open_report, samples
from core.analysis import groups_after, steps
from core.report import FxNode

pytestmark = pytest.mark.torch

SAMPLES = [sample.name for sample in samples()]
LOWERED = "inductor_post_grad_graph"
# Rewrites of a whole graph that torch does without an observer; they are recorded as passes, too.
UNOBSERVED = ("tensorify_python_scalars", "run_joint_graph_passes_on_hops", "view_to_reshape")
DEFINED = re.compile(r"^\w+ = async_compile\.", re.MULTILINE)
# Goes before a sample's code: writes down each graph at the moment in which Inductor lowers it.
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
    """Graph by graph, torch's nodes and ours; the passes whose graph's text changed; and our report with its log."""

    torch: list[list[Seen]]
    ours: list[tuple[FxNode, ...]]
    passes: list[str]
    report: Report
    log: Path


@pytest.fixture(scope="module", params=SAMPLES)
def both(request: pytest.FixtureRequest, engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """One run of one sample with the witness at work."""
    home = tmp_path_factory.mktemp(request.param)
    sample = next(item for item in samples() if item.name == request.param)
    code = f"WITNESS = {str(home / 'witness')!r}\n{WITNESS}\n{sample.path.read_text()}"
    runner = Runner(Store(home), engine)
    run = runner.wait(runner.submit(CompileJob(Model("code", code), training=sample.training, measure=False)))
    assert run.status().state == "done", run.output_tail()
    report: Report = open_report(run)
    graphs = [(item, graph) for item in report.compilations for graph in item.graphs if graph.stage == LOWERED]
    ours = [open_graph(run, item, graph) for item, graph in sorted(graphs, key=lambda pair: pair[1].payload.offset)]
    passes = home / "witness.passes"
    log = run.log_path()
    assert log is not None
    return Both(_seen(home / "witness"), ours, passes.read_text().splitlines() if passes.exists() else [], report, log)


def _seen(path: Path) -> list[list[Seen]]:
    lines = path.read_text().splitlines()
    return [
        [
            Seen(name, op, None if shape is None else tuple(shape), tuple(line) if line else None, "".join(module))
            for name, op, shape, line, module in json.loads(line_of_graph)
        ]
        for line_of_graph in lines
    ]


def test_nodes_are_torchs_nodes(both: Both) -> None:
    assert [[(node.name, node.op) for node in graph] for graph in both.ours] == [
        [(node.name, node.op) for node in graph] for graph in both.torch
    ]


def test_shapes_are_torchs_shapes(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        shapes = {node.name: node.meta.shape if node.meta else None for node in ours}
        assert shapes == {node.name: node.shape for node in torchs}


def test_lines_are_torchs_lines(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        lines = {node.name: node.source for node in ours if node.op.startswith("call_")}
        assert lines == {node.name: node.line for node in torchs if node.op.startswith("call_")}


def test_modules_are_torchs_modules(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        modules = {node.name: node.module for node in ours}
        named = {node.name: node.module for node in torchs if node.module and node.op.startswith("call_")}
        assert {name: modules[name] for name in named} == named


def test_passes_are_those_whose_graph_changed(both: Both) -> None:
    observed = [one for item in both.report.compilations for one in item.passes if one.stage != "before_post_grad"]
    assert sorted(one.name for one in observed if one.name and one.name not in UNOBSERVED) == sorted(both.passes)


def test_fusions_lead_to_torchs_own_fused_nodes(both: Both) -> None:
    for schedule in (schedule for item in both.report.compilations for schedule in item.schedules):
        replayed = groups_after(schedule, len(steps(schedule)))
        assert {frozenset(group) for group in replayed} == {frozenset(node.nodes) for node in schedule.after}


def test_generated_kernels_are_as_many_as_the_output_code_defines(both: Both) -> None:
    for item in both.report.compilations:
        generated = [kernel for kernel in item.kernels if not kernel.extern]
        codes = {kernel.output_code for kernel in item.kernels}
        assert len(generated) == sum(len(DEFINED.findall(load_text(both.log, code))) for code in codes)
