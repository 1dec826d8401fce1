"""Fusion in a directory of TORCH_COMPILE_DEBUG: the hulls are the wrapper's launches, and unknown steps say so."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from core import Store
from core.graph.fusion import fusion_model
from core.graph.launches import fusion_frames, launches
from core.graph.model import HULLS
from core.report import Compilation, Direction, FxNode, Kernel, Schedule
from core.trace.parsers.build import build_report, load_graph, load_text
from core.views.fusion import FusionView
from tests.support.places import ROOT


class Case:
    """A graph of the directory, which torch 2.13 wrote for three blocks of a norm, two matmuls and a GELU."""

    def __init__(self, log: Path, direction: Direction) -> None:
        self.report = build_report(log, strict=True)
        assert self.report.problems == ()
        (self.compilation,) = self.report.compilations
        compilation: Compilation = self.compilation
        self.schedule: Schedule = next(each for each in compilation.schedules if each.direction == direction)
        graph = compilation.lowered(direction)
        assert graph is not None
        self.nodes: dict[str, FxNode] = {node.name: node for node in load_graph(log, compilation, graph)}
        own = [kernel for kernel in compilation.kernels if kernel.direction == direction]
        self.kernels: dict[str, Kernel] = {kernel.id: kernel for kernel in own}
        self.code = load_text(log, own[0].output_code)


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    log = Store(tmp_path).add_path(ROOT / "tests/launches/debug_directory.tar.gz").log_path()
    assert log is not None
    return Case(log, request.param)


@pytest.mark.parametrize("case", ["forward", "backward"], indirect=True)
def test_the_hulls_are_the_launches_of_the_wrapper(case: Case) -> None:
    drawn = launches(case.schedule, case.nodes, case.kernels)
    calls = [node for node in ast.walk(ast.parse(case.code)) if isinstance(node, ast.Call)]
    functions = Counter(ast.unparse(call.func) for call in calls)
    launched = Counter(case.kernels[launch.kernel].name for launch in drawn if launch.kernel)
    assert launched == {kernel.name: functions[kernel.name] for kernel in case.kernels.values()}
    assert all(launch.kernel for launch in drawn)
    model = fusion_model(case.schedule, case.nodes, case.kernels)
    assert len([group for group in model.groups if group.kind in HULLS]) == len(drawn)
    written = [{name for node in launch.nodes for name, _ in node.writes} for launch in drawn]
    assert sum(map(len, written)) == len(set.union(*written))


@pytest.mark.parametrize("case", ["forward"], indirect=True)
def test_the_ops_of_a_launch_are_the_nodes_of_torchs_provenance(case: Case) -> None:
    computing = {name for name, node in case.nodes.items() if node.op == "call_function"}
    drawn = launches(case.schedule, case.nodes, case.kernels)
    for launch in drawn:
        known = {call.origins for call in case.kernels[launch.kernel].calls if set(launch.members) <= set(call.origins)}
        assert known
    assert {name for launch in drawn for name in launch.members} <= computing


@pytest.mark.parametrize(
    ("case", "noun"), [("forward", "46 ops"), ("backward", "33 scheduler nodes")], indirect=["case"]
)
def test_steps_that_were_not_recorded_are_missing_and_show_no_group(case: Case, noun: str) -> None:
    assert case.schedule.is_recorded
    assert not case.schedule.has_steps
    frames = fusion_frames(case.schedule, case.nodes, case.kernels)
    assert [(frame.title, frame.missing) for frame in frames] == [
        ("Ops", False), ("Scheduler nodes", True), ("Fusions", True), ("Kernels", False),
    ]  # fmt: skip
    assert frames[0].detail.startswith(f"{noun} after")
    assert frames[1].units == len(case.schedule.before)
    assert frames[2].units == len(case.schedule.after)
    view = FusionView(case.report, case.compilation, case.schedule, lambda _: tuple(case.nodes.values()))
    assert not view.is_recorded
    assert FusionView.from_debug_files in view.help
    assert view.title.startswith(f"{noun} → ")
    joins = {frame for node in fusion_model(case.schedule, case.nodes, case.kernels).nodes for frame, _ in node.joins}
    assert min(joins) == len(frames) - 1
