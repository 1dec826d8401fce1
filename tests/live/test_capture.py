"""The model's other captures are torch's own, and what torch cannot capture is said in its words."""

import pytest
import torch

from core import CompileJob, Model, Run, Runner, open_report
from core.report import Report

pytestmark = pytest.mark.torch
MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 32)
        self.norm = torch.nn.BatchNorm1d(32)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, *, scale=2.0):
        self.calls.add_(1)
        x = self.norm(self.linear(x)) * scale + self.calls
        return torch.nn.functional.dropout(torch.relu(x))


model = Model()
inputs = (torch.randn(8, 64),)
"""
BRANCHES = """
def model(x):
    if x.sum() > 0:
        return x.sin()
    return x.cos()


import torch
inputs = (torch.ones(4),)
"""


def captured(runner: Runner, code: str, **fields: object) -> tuple[Run, Report]:
    job = CompileJob(Model("code", code), measure=False, capture=True, **fields)  # type: ignore[arg-type]
    run = runner.wait(runner.submit(job))
    assert run.status().state == "done", run.output_tail()
    return run, open_report(run)


def test_each_capture_is_torchs_and_gives_eagers_results(runner: Runner) -> None:
    _, report = captured(runner, MODEL, marks=("0.0",))
    ways = {capture.way: capture for capture in report.captures}
    assert {way: (capture.equal, capture.problem) for way, capture in ways.items()} == {
        "symbolic_trace": (True, ""), "export": (True, ""), "core_aten": (True, ""),
    }  # fmt: skip
    assert "Dim('dim_0_0')" in ways["export"].call

    namespace: dict[str, object] = {}
    exec(MODEL, namespace)
    model = namespace["model"]
    assert isinstance(model, torch.nn.Module)
    graph = torch.fx.symbolic_trace(model).graph
    traced = ways["symbolic_trace"].graph
    assert traced is not None
    assert sum(traced.ops.values()) == len(graph.nodes)
    explained = torch._dynamo.explain(model)(torch.randn(8, 64))
    assert report.explained is not None
    assert (report.explained.graphs, report.explained.ops) == (explained.graph_count, explained.op_count)
    assert report.explained.equal is True
    assert report.counters is not None
    assert report.counters.dynamo["stats"]["unique_graphs"] == 1, "captures are not counted as the run's"


def test_a_branch_on_data_is_an_error_of_symbolic_trace_with_its_line(runner: Runner) -> None:
    _, report = captured(runner, BRANCHES)
    failed = {capture.way: capture for capture in report.captures}
    assert failed["symbolic_trace"].problem.startswith("TraceError: symbolically traced variables cannot be used")
    assert [frame.text for frame in failed["symbolic_trace"].frames] == ["if x.sum() > 0:"]
    assert failed["export"].problem
    assert "core_aten" not in failed
    assert report.explained is not None
    assert report.explained.equal is True
    assert report.explained.graph_breaks >= 1
