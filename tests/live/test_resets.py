"""Compilations before and after torch.compiler.reset have separate programs, calls and executions."""

import pytest

from core import open_report
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

SCRIPT = """import torch
def first(x):
    return x.sin() + 1
def second(x):
    return torch.softmax(x.cos() * 2, -1)
def returned(graph, inputs):
    return graph.forward
x = torch.ones(4, 8)
torch.compile(first, backend={backend})(x)
torch.compiler.reset()
compiled = torch.compile(second, backend={backend})
compiled(x)
compiled(x)
"""


def test_each_compilation_has_its_program_and_its_calls(run_code: RunCode) -> None:
    run = run_code(SCRIPT.format(backend='"accelerator"'))
    report = open_report(run)
    segments = {
        compilation.id: (pipeline.segments[0].file, pipeline.segments[0].nodes)
        for compilation in report.compilations
        for pipeline in compilation.pipelines
    }
    assert segments == {
        "0/0": ("0_0-inference-segment_0.cbp", ("sin", "add")),
        "2:0/0": ("0_0.2-inference-segment_0.cbp", ("cos", "mul", "_softmax")),
    }
    assert [(crossing.compilation, crossing.calls) for crossing in report.crossings] == [("0/0", 1), ("2:0/0", 2)]


def test_each_compilation_has_its_executions(run_code: RunCode) -> None:
    report = open_report(run_code(SCRIPT.format(backend="returned")))
    assert [compilation.id for compilation in report.compilations] == ["0/0", "2:0/0"]
    assert [(total.compilation, total.calls + total.measured) for total in report.ran] == [("0/0", 1), ("2:0/0", 2)]
