"""The scheduler as a graph: before fusion, kernels after it, and fusion as a film."""

from dataclasses import replace

import pytest

from core.analysis.work import groups_after, launch_groups, steps
from core.graph.fusion import fusion_frames, launch_seconds
from core.graph.model import Node
from core.graph.schedule import after_model, before_model
from core.report import Compilation, FxNode, Schedule
from core.trace.parsers.build import load_graph
from tests.support.logs import recorded_report
from tests.support.places import TRACES

Case = tuple[Compilation, Schedule, dict[str, FxNode]]


def schedules(scenario: str) -> list[Case]:
    """Each schedule of a recorded run with its FX nodes."""
    log = next((TRACES / scenario).rglob("*.log"))
    found = []
    for compilation in recorded_report(log).compilations:
        for schedule in compilation.schedules:
            graphs = [graph for graph in compilation.graphs if graph.stage == "inductor_post_grad_graph"]
            graph = next((graph for graph in graphs if graph.direction == schedule.direction), graphs[0])
            found.append((compilation, schedule, {node.name: node for node in load_graph(log, compilation, graph)}))
    return found


CASES = [
    pytest.param(case, id=f"{scenario}-{index}")
    for scenario in ("transformer_block", "training_step", "dynamic_batch", "control_flow")
    for index, case in enumerate(schedules(scenario))
]


def groups_at(nodes: tuple[Node, ...], frame: int, prefix: str = "s:") -> set[tuple[str, ...]]:
    """The groups of rows in a frame, as a browser puts them together: runs of one key within a node."""
    found = set()
    for node in nodes:
        run: list[str] = []
        key = ""
        for row in node.rows:
            now = next(key for first, key in reversed(row.joins) if first <= frame)
            if now != key and run:
                found.add(tuple(sorted(run)))
                run = []
            key = now
            run.append(row.id.removeprefix(prefix))
        if run:
            found.add(tuple(sorted(run)))
    return found


@pytest.mark.parametrize("case", CASES)
def test_rows_show_every_step_of_fusion_and_each_group_stands_together(case: Case) -> None:
    compilation, schedule, nodes = case
    kernels = {kernel.id: kernel for kernel in compilation.kernels}
    model = after_model(schedule, nodes, kernels)
    rows = {row.id.removeprefix("s:") for node in model.nodes for row in node.rows}
    for frame in range(len(steps(schedule)) + 1):
        expected = {tuple(sorted(group)) for group in groups_after(schedule, frame) if set(group) <= rows}
        assert groups_at(model.nodes, frame) == expected
    final = {tuple(sorted(group)) for group in launch_groups(schedule, kernels) if set(group) <= rows}
    assert groups_at(model.nodes, len(fusion_frames(schedule, kernels)) - 1) == final


@pytest.mark.parametrize("case", CASES)
def test_both_sides_hold_every_scheduler_node_under_the_same_id(case: Case) -> None:
    compilation, schedule, nodes = case
    before = before_model(schedule, nodes)
    after = after_model(schedule, nodes, {kernel.id: kernel for kernel in compilation.kernels})
    assert sorted(node.id for node in before.nodes) == sorted(f"s:{node.name}" for node in schedule.before)
    linked = sorted(link for node in after.nodes for link in node.links if link.startswith("s:"))
    assert linked == sorted(f"s:{node.name}" for node in schedule.before)


def test_a_kernel_is_in_the_deepest_module_that_all_its_ops_share() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = after_model(schedule, nodes, {kernel.id: kernel for kernel in compilation.kernels})
    placed = {
        node.label: [group.label for group in model.groups if group.first <= index < group.last]
        for index, node in enumerate(model.nodes)
    }
    assert placed["scaled_dot_product_flash_attention"] == ["attention"]
    assert placed["norm2 · layer_norm, add"] == []
    told = {node.label: node.tooltip.splitlines()[-1] for node in model.nodes}
    assert told["norm2 · layer_norm, add"] == "cpp_fused_add_native_layer_norm_view_1"


def test_the_bytes_of_a_kernel_are_those_that_inductor_counted() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = after_model(schedule, nodes, {kernel.id: kernel for kernel in compilation.kernels})
    counted = next(overlay for overlay in model.overlays if overlay.name == "bytes").values
    assert sum(value or 0 for value in counted) == schedule.bytes_after


def test_measured_seconds_are_reported_to_be_and_are_split_over_a_kernels_nodes() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    seconds = {kernel.id: 1e-3 for kernel in compilation.kernels}
    kernels = {kernel.id: kernel for kernel in compilation.kernels}
    for model in (
        before_model(schedule, nodes, seconds=seconds),
        after_model(schedule, nodes, kernels, seconds=seconds),
    ):
        time = next(overlay for overlay in model.overlays if overlay.name == "time")
        assert (time.title, time.unit) == ("time (measured)", "s")
        assert sum(value or 0 for value in time.values) == pytest.approx(1e-3 * len(seconds), rel=0.01)


def test_frames_begin_unfused_and_end_with_the_kernels() -> None:
    compilation, schedule, _ = schedules("training_step")[1]
    kernels = {kernel.id: kernel for kernel in compilation.kernels}
    assert [frame.title for frame in fusion_frames(schedule, kernels)] == [
        "Before the first fusion",
        "Fusion 1 of 2, in round 1",
        "Fusion 2 of 2, in round 2",
        "Code generation",
    ]


def test_launches_that_were_not_timed_one_by_one_share_their_kernels_time_equally() -> None:
    _, schedule, _ = schedules("transformer_block")[0]
    first, second, third, *_ = (replace(node, kernel="k") for node in schedule.before)
    boxes = ((first,), (second, third))
    assert launch_seconds(boxes, {}, {"k": 3.0}) == {first.name: 1.5, second.name: 1.5}
    assert launch_seconds(boxes, {}, {"other": 3.0}) == {}


def test_a_box_has_the_class_of_its_weightiest_op() -> None:
    ((_, schedule, nodes),) = schedules("transformer_block")
    classes = {node.label: node.op_class for node in before_model(schedule, nodes).nodes}
    assert {label: classes[label] for label in ("addmm", "add", "add · var_mean")} == {
        "addmm": "matmul",
        "add": "pointwise",
        "add · var_mean": "reduction",
    }
