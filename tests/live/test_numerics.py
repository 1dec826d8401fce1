"""Eager and compiled against float64, with a fault whose culprit is known and with rounding that fusion spares."""

import pytest
import torch

from core import CompileOptions, open_report
from core.analysis.numerics import (
    first_inaccurate,
    numerics,
    numerics_of,
    numerics_sentence,
)
from core.views.numerics import graph_sentence
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

# The backend of torch's own tests makes `torch.relu(x)` into `torch.add(x, 1)`.
FAULTY = CompileOptions(backend="relu_accuracy_error_TESTING_ONLY")
CULPRIT = """
import torch
def model(x):
    y = x * 2
    y.add_(1)
    first, second = y.chunk(2)
    z = torch.relu(first * second)
    return z.softmax(-1), (z > 1).sum()
inputs = (torch.linspace(-2, 2, 32).view(8, 4),)
"""
# Eager rounds each of sixteen values to bfloat16, a fused kernel the last.
ROUNDED = """
import torch
def model(x):
    for _ in range(8):
        x = x * 1.01 + 0.01
    return x
inputs = (torch.linspace(0.1, 1, 4096),)
"""


def rounded(x: torch.Tensor) -> torch.Tensor:
    """What that model computes, as torch rounds it by itself."""
    for _ in range(8):
        x = x * 1.01 + 0.01
    return x


def test_the_node_that_the_backend_gets_wrong_is_the_first_that_differs(run_code: RunCode) -> None:
    report = open_report(run_code(CULPRIT, compile=FAULTY, numerics="nodes", measure=False))
    graph, found = numerics_of(report, "0/0"), numerics(report)
    assert (report.error, report.problems, len(report.compilations)) == (None, (), 1)
    assert graph is not None
    assert found is not None

    first = first_inaccurate(graph)
    assert first is not None
    assert (first.name, graph.parts, graph.changed, graph.reason) == ("z", 1, 0.0, "")
    assert graph_sentence(graph).startswith("4 of 7 nodes differ, first `z`: off by 1.")
    assert {node.name: node.left_out for node in graph.nodes if node.left_out} == {
        "chunk": "several values, each with a node of its own",
        "first": "a view of another value",
        "second": "a view of another value",
    }
    assert {item.what: item.standing for item in found.results} == {"output[0]": "differs", "output[1]": "differs"}
    # What was captured once more is in none of torch's own counts.
    assert report.counters is not None
    assert report.counters.dynamo["stats"]["unique_graphs"] == 1


def test_a_fused_kernel_rounds_less_than_eager(run_code: RunCode) -> None:
    report = open_report(run_code(ROUNDED, dtype="bfloat16", numerics="results", measure=False))
    found = numerics(report)
    assert found is not None

    assert [item.standing for item in found.results] == ["closer"]
    x = torch.linspace(0.1, 1, 4096).bfloat16()
    right = rounded(x.double())
    error = (rounded(x).double() - right).norm() / right.norm()
    assert found.results[0].accuracy.eager_error == pytest.approx(error.item())
    assert numerics_sentence(found).startswith("Compiled is closer to float64 than eager: off by at most 0.00")
    assert report.graph_numerics == ()
