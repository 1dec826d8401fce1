"""The film of the passes and the partition, on live compilations."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from core import Report, build_report
from core.analysis import film, graph_at, partitions, saved_bytes, saved_values
from tests.support.homes import CACHE
from tests.support.places import ROOT
from tests.support.reports.films import check, reader

LIVE = [("transformer_block", "training"), ("optimizer_step", "inference"), ("flex_attention", "inference")]


@dataclass(frozen=True)
class Live:
    """A live compilation: its log, its report, and the passes that the naive observer saw change the graph."""

    log: Path
    report: Report
    naive: list[str]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Live]:
    """Compiles a sample once for all tests of this file."""

    @cache
    def compile_sample(name: str, mode: str) -> Live:
        folder = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "tests.support.naive_passes", name, mode, str(folder)]
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "inductor")}
        done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        log = next(folder.glob("*.log"))
        return Live(log, build_report(log, strict=True), json.loads(done.stdout))

    return compile_sample


@pytest.mark.torch
@pytest.mark.parametrize(("name", "mode"), LIVE)
def test_recorded_passes_are_those_whose_text_changed(
    compiled: Callable[[str, str], Live], name: str, mode: str
) -> None:
    live = compiled(name, mode)
    assert live.report.problems == ()
    assert live.naive
    passes = [
        one for compilation in live.report.compilations for one in compilation.passes if one.stage != "before_post_grad"
    ]
    assert [one.name for one in passes if one.name] == live.naive


@pytest.mark.torch
@pytest.mark.parametrize(("name", "mode"), LIVE)
def test_recorded_passes_lead_to_torchs_own_graph(compiled: Callable[[str, str], Live], name: str, mode: str) -> None:
    live = compiled(name, mode)
    for compilation in live.report.compilations:
        check(compilation, reader(live.log, compilation))
        for segment in film(compilation, reader(live.log, compilation)):
            assert [frame.graph for frame in segment.frames if not frame.recorded] == []


@pytest.mark.torch
def test_every_call_has_its_module_in_training(compiled: Callable[[str, str], Live]) -> None:
    live = compiled("transformer_block", "training")
    (compilation,) = live.report.compilations
    nodes_of = reader(live.log, compilation)
    calls = [node for graph in compilation.graphs for node in nodes_of(graph) if node.op.startswith("call_")]
    assert [node.name for node in calls if not node.module.startswith("L['self']") or not node.module_class] == []


@pytest.mark.torch
def test_inference_is_not_partitioned(compiled: Callable[[str, str], Live]) -> None:
    (compilation,) = compiled("optimizer_step", "inference").report.compilations
    assert compilation.partitions == ()


@pytest.mark.torch
def test_recorded_partition_is_that_of_the_graphs(compiled: Callable[[str, str], Live]) -> None:
    live = compiled("transformer_block", "training")
    (compilation,) = live.report.compilations
    nodes_of = reader(live.log, compilation)
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
from core.job import Conditions
from core.worker.record import emit, recording, start_trace
from core.worker.recorders.stacks import Sources

start_trace(sys.argv[1])
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(2048, 4), nn.Sigmoid()
)
inputs = torch.randn(4, 3, 16, 16)
given = {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers(), inputs)}
kept = []
with recording(Sources(emit), Conditions()):
    compiled = torch.compile(model)
    compiled(inputs)
    pack = lambda tensor: (kept.append(tensor), tensor)[1]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        compiled(inputs)
print(len(kept), sum(t.nbytes for t in kept), sum(t.nbytes for t in kept if t.data_ptr() not in given))
"""


@pytest.mark.torch
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


@pytest.mark.torch
def test_saved_values_come_with_torchs_reasons_largest_first(compiled: Callable[[str, str], Live]) -> None:
    (compilation,) = compiled("transformer_block", "training").report.compilations
    (partition,) = compilation.partitions
    sizes = [value.bytes or 0 for value in saved_values(partition)]
    assert sizes == sorted(sizes, reverse=True)
    assert saved_values(partition)[0].reasons == ("cannot recompute: not in recomputable allowlist",)
    assert saved_bytes(partition.saved, "activation") + saved_bytes(partition.saved, "input") == sum(sizes)
