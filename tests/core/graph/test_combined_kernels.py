"""Fusion in logs of an H200: training, a combination of kernels, and the foreach kernels of an optimizer's step."""

import ast
import gzip
from collections import Counter
from pathlib import Path

import pytest

from core.base.words import bytes_
from core.graph.fusion import fusion_model
from core.graph.launches import fusion_frames, launches
from core.graph.model import HULLS, Launch
from core.graph.overlays import saved_bytes
from core.report import Compilation, FxNode, Kernel, Schedule
from core.trace.parsers.build import build_report, load_graph, load_text
from tests.support.places import ROOT

LOGS = ("combo", "foreach", "training")


class Case:
    """The scheduled graph of a log."""

    def __init__(self, log: Path) -> None:
        report = build_report(log, strict=True)
        self.compilation: Compilation = next(each for each in report.compilations if each.schedules)
        self.schedule: Schedule = self.compilation.schedules[0]
        self.kernels: dict[str, Kernel] = {
            kernel.id: kernel for kernel in self.compilation.kernels if kernel.direction == self.schedule.direction
        }
        graph = self.compilation.lowered(self.schedule.direction)
        assert graph is not None
        nodes = load_graph(log, self.compilation, graph)
        self.nodes: dict[str, FxNode] = {node.name: node for node in nodes}
        self.launches: tuple[Launch, ...] = launches(self.schedule, self.nodes, self.kernels)
        self.code = load_text(log, next(iter(self.kernels.values())).output_code)

    def members(self) -> dict[str, set[str]]:
        return {self.kernels[launch.kernel].name: set(launch.members) for launch in self.launches}


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    log = tmp_path / "trace.log"
    log.write_bytes(gzip.decompress((ROOT / "tests/launches" / f"{request.param}.log.gz").read_bytes()))
    return Case(log)


@pytest.mark.parametrize("case", LOGS, indirect=True)
def test_the_hulls_are_the_launches_of_the_wrapper_and_save_what_the_schedule_saves(case: Case) -> None:
    calls = [node for node in ast.walk(ast.parse(case.code)) if isinstance(node, ast.Call)]
    functions = Counter(ast.unparse(call.func).removesuffix(".run") for call in calls)
    launched = Counter(case.kernels[launch.kernel].name for launch in case.launches)
    assert launched == {name: functions[name] for name in launched}
    assert set(launched) == {kernel.name for kernel in case.kernels.values()}
    model = fusion_model(case.schedule, case.nodes, case.kernels)
    assert len([group for group in model.groups if group.kind in HULLS]) == len(case.launches)
    assert case.schedule.bytes_before is not None
    assert case.schedule.bytes_after is not None
    saved = saved_bytes(case.schedule, case.launches)
    assert sum(size or 0 for size in saved) == case.schedule.bytes_before - case.schedule.bytes_after


@pytest.mark.parametrize("case", ["combo"], indirect=True)
def test_each_kernel_of_a_combination_has_the_ops_whose_buffers_it_writes(case: Case) -> None:
    assert case.members() == {
        "triton_poi_fused_0": {"relu", "add", "sigmoid", "mul"},
        "triton_per_fused_1": {"cos", "sum_1"},
    }
    assert {kernel.name: set(kernel.origins) for kernel in case.kernels.values()} == case.members()


@pytest.mark.parametrize("case", ["foreach"], indirect=True)
def test_the_parts_of_foreach_nodes_are_in_the_kernel_that_computes_them(case: Case) -> None:
    members = case.members()
    assert members["triton_for_fused_0"] == {"_foreach_add"}
    assert {"_foreach_mul", "_foreach_add_4", "copy_", "copy__15"} <= members["triton_for_fused_1"]
    frames = fusion_frames(case.schedule, case.nodes, case.kernels)
    assert (frames[0].units, frames[-1].units) == (20, 2)
    assert frames[-1].detail == "2 kernels; each hull is one launch; no node joined another since"
    assert (bytes_(frames[0].moved or 0), bytes_(frames[-1].moved or 0)) == ("899 kB", "233 kB")
    fused = [frame.detail for frame in frames if frame.title.startswith("Fusion")]
    assert len(fused) == len(case.schedule.before) - 2
    assert all("op16" not in detail for detail in fused)
