"""The film of the passes and the partition, on live compilations."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core import build_report
from core.analysis.film import film, graph_at
from core.analysis.memory import partitions, saved_bytes, saved_values
from tests.live.witness import Both
from tests.support.places import ROOT
from tests.support.reports.films import NodesOf, check, reader

pytestmark = pytest.mark.torch
INFERENCE = pytest.mark.parametrize("both", ["optimizer_step", "flex_attention"], indirect=True)


def log_of(live: Both) -> Path:
    log = live.run.log_path()
    assert log is not None
    return log


def assert_passes_are_those_that_were_seen(live: Both) -> None:
    assert live.report.problems == ()
    assert live.passes
    passes = [
        one for compilation in live.report.compilations for one in compilation.passes if one.stage != "before_post_grad"
    ]
    assert [one.name for one in passes if one.name] == live.passes


def assert_passes_lead_to_torchs_graphs(live: Both) -> None:
    for compilation in live.report.compilations:
        check(compilation, reader(log_of(live), compilation))
        for segment in film(compilation, reader(log_of(live), compilation)):
            assert [frame.graph for frame in segment.frames if not frame.recorded] == []


@INFERENCE
def test_recorded_passes_are_those_whose_text_changed(both: Both) -> None:
    assert_passes_are_those_that_were_seen(both)


@INFERENCE
def test_recorded_passes_lead_to_torchs_own_graph(both: Both) -> None:
    assert_passes_lead_to_torchs_graphs(both)


def test_recorded_passes_of_forward_and_backward_are_those_whose_text_changed(trained: Both) -> None:
    assert_passes_are_those_that_were_seen(trained)
    assert_passes_lead_to_torchs_graphs(trained)


@pytest.fixture
def nodes_of(trained: Both) -> NodesOf:
    """The nodes of a graph of the training."""
    return reader(log_of(trained), trained.report.compilations[0])


def test_every_call_has_its_module_in_training(trained: Both, nodes_of: NodesOf) -> None:
    (compilation,) = trained.report.compilations
    calls = [node for graph in compilation.graphs for node in nodes_of(graph) if node.op.startswith("call_")]
    assert [node.name for node in calls if not node.module.startswith("L['self']") or not node.module_class] == []


@INFERENCE
def test_inference_is_not_partitioned(both: Both) -> None:
    assert [compilation.partitions for compilation in both.report.compilations] == [()]


def test_recorded_partition_is_that_of_the_graphs(trained: Both, nodes_of: NodesOf) -> None:
    (compilation,) = trained.report.compilations
    (recorded,) = partitions(compilation, nodes_of)
    (derived,) = partitions(replace(compilation, partitions=()), nodes_of)
    assert (recorded.recorded, derived.recorded) == (True, False)
    assert recorded.decisions == {name: derived.decisions[name] for name in recorded.decisions}
    assert {(one.name, one.bytes) for one in recorded.saved} == {(one.name, one.bytes) for one in derived.saved}
    joint = next(segment for segment in film(compilation, nodes_of) if segment.chapter == "joint")
    names = {node.name for node in graph_at(joint, len(joint.frames) - 1)}
    assert names == {*recorded.decisions, *recorded.dropped, "output"}


KEPT = """
import sys, torch
from torch import nn
from core.job import CompileJob, Model
from core.worker.record import emit, start_trace
from core.worker.run import recording
from core.worker.recorders.stacks import DeferredRecords

start_trace(sys.argv[1])
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(2048, 4), nn.Sigmoid()
)
inputs = torch.randn(4, 3, 16, 16)
given = {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers(), inputs)}
kept = []
with recording(DeferredRecords(emit), CompileJob(Model("sample", "mlp"))):
    compiled = torch.compile(model)
    compiled(inputs)
    pack = lambda tensor: (kept.append(tensor), tensor)[1]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        compiled(inputs)
print(len(kept), sum(t.nbytes for t in kept), sum(t.nbytes for t in kept if t.data_ptr() not in given))
"""


@pytest.mark.long
def test_what_the_compiled_forward_keeps_is_what_autograd_saves(tmp_path: Path) -> None:
    script = [sys.executable, "-c", KEPT, str(tmp_path)]
    printed = subprocess.run(script, capture_output=True, text=True, timeout=400, check=True, cwd=ROOT).stdout
    (log,) = tmp_path.glob("*.log")
    (compilation,) = build_report(log, strict=True).compilations
    (partition,) = compilation.partitions
    kept = partition.kept or ()
    activations = saved_bytes(kept, "activation")

    assert [len(kept), activations + saved_bytes(kept, "input"), activations] == [int(word) for word in printed.split()]
    assert activations > saved_bytes(partition.saved, "activation")


# Why torch does not compute the largest saved value again, by sample.
LARGEST = {"training_step": "primal input", "transformer_block": "not in recomputable allowlist"}


def test_saved_values_come_with_torchs_reasons_largest_first(request: pytest.FixtureRequest, trained: Both) -> None:
    (compilation,) = trained.report.compilations
    (partition,) = compilation.partitions
    sizes = [value.bytes or 0 for value in saved_values(partition)]
    assert sizes == sorted(sizes, reverse=True)
    reason = LARGEST[request.node.callspec.params["trained"]]
    assert saved_values(partition)[0].reasons == (f"cannot recompute: {reason}",)
    assert saved_bytes(partition.saved, "activation") + saved_bytes(partition.saved, "input") == sum(sizes)
