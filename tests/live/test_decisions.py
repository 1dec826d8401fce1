"""Inductor's decisions for each op agree with torch: layouts, fallbacks, choices, and the names of the options."""

import re

import pytest
import torch
import torch._inductor.config

from core import CompileJob, CompileOptions, Model, Report, Runner, open_report
from core.runs.stored import side_of_run
from core.views.decisions import SWITCHES, DecisionsView
from tests.support.tables import texts

pytestmark = pytest.mark.torch
CONVOLUTIONS = """import torch
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.Flatten(1)
).eval()
inputs = (torch.randn(4, 3, 16, 16),)
"""
CHAIN = """import torch
def model(x, w):
    y = torch.softmax(x @ w, -1)
    return y, torch.cdist(y, y, p=1.0), (x * 2).sum(-1)
inputs = (torch.randn(64, 64), torch.randn(64, 64))
"""


PRODUCTS = """import torch
def model(x, y):
    return torch.bmm(x, y).relu()
inputs = (torch.randn(8, 64, 64), torch.randn(8, 64, 64))
"""


def view_of(runner: Runner, code: str, **options: object) -> DecisionsView:
    job = CompileJob(Model("code", code), measure=False, compile=CompileOptions(**options))  # type: ignore[arg-type]
    run = runner.wait(runner.submit(job))
    side = side_of_run(run)
    assert side is not None
    (compilation,) = side.report.compilations
    nodes = {node.name: node for graph in compilation.lowered_graphs for node in side.nodes(compilation, graph)}
    return DecisionsView(side.report, compilation, nodes, side.text)


@pytest.mark.long
def test_the_layout_of_a_convolution_is_torchs_and_its_option_changes_it(runner: Runner) -> None:
    rows = texts(view_of(runner, CONVOLUTIONS).table)
    changed = [row for row in rows if row["stride in the graph"]]
    assert {row["op"] for row in changed} >= {"aten.convolution.default"}
    assert any("layout_optimization" in str(row["options"]) for row in changed)
    assert next(row for row in changed)["result"] == "f32[4, 16, 16, 16][4096, 1, 256, 16]"
    plain = texts(view_of(runner, CONVOLUTIONS, options={"layout_optimization": False}).table)
    assert len([row for row in plain if row["stride in the graph"]]) < len(changed)


def test_each_op_says_how_it_is_computed(runner: Runner) -> None:
    view = view_of(runner, CHAIN)
    computed = {str(row["node"]): str(row["computed"]).partition(",")[0] for row in texts(view.table)}
    assert computed["mm"] == "library"
    assert any(how == "fallback" for how in computed.values())
    assert any(how.startswith("fused with") for how in computed.values())
    assert view.title.startswith(f"{len(view.decisions)} ops: ")


@pytest.mark.long
def test_choices_have_their_times(runner: Runner) -> None:
    # A choice from torch's own cache has no times.
    options = {"max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN", "autotune_local_cache": False}
    view = view_of(runner, PRODUCTS, options=options)
    (row,) = (row for row in texts(view.table) if row["choices"])
    (tuning,) = (each for each in view.report.autotuned if each.kind == "choices")
    assert str(row["choices"]).startswith(f"{next(each.name for each in tuning.choices if each.chosen)} ")
    assert str(row["choices"]).count(",") == len(tuning.choices) - 1 > 0
    assert len(view.chosen) == 1


def test_every_option_that_is_named_exists() -> None:
    names = {name for text in SWITCHES.values() for name in re.findall(r"\b\w+_\w+\b", text)}
    assert names <= set(torch._inductor.config._config)
    assert len(names) > 8


def test_a_run_without_a_device_has_no_cuda_graphs(runner: Runner) -> None:
    report: Report = open_report(runner.wait(runner.submit(CompileJob(Model("code", CHAIN), measure=False))))
    assert report.counters is not None
    assert (report.counters.cudagraphs == {}) or torch.cuda.is_available()
