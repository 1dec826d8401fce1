"""Fusion as one drawing: the hulls are the wrapper's launches, and no op, byte or step of the scheduler is lost."""

import ast
import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from core.analysis.kernels.ledger import fusion_schedules
from core.analysis.work import groups_after, moved_bytes, steps
from core.code.output_code import find_kernels
from core.graph.fusion import fusion_model
from core.graph.launches import Kernels, fusion_frames, launches
from core.graph.model import HULLS, FusionStep, GraphModel, Largest, Launch
from core.graph.overlays import launch_seconds, ops_without_launch, saved_bytes
from core.ops.costs import CALLS, op_class
from core.report import Compilation, EagerCall, FxNode, Kernel, KernelCall, Schedule, SchedulerNode
from core.trace.parsers.build import load_graph, load_text
from tests.support.logs import recorded_report
from tests.support.places import TRACES

Case = tuple[Compilation, Schedule, dict[str, FxNode]]
SCENARIOS = (
    "transformer_block",
    "training_step",
    "dynamic_batch",
    "control_flow",
    "symbols",
    "target_h100",
    "measured",
)


def schedules(scenario: str) -> list[Case]:
    """Each schedule of a recorded run with the FX nodes of its lowered graph."""
    log = next((TRACES / scenario).rglob("*.log"))
    cases = []
    for compilation in recorded_report(log).compilations:
        for schedule in compilation.schedules:
            graph = compilation.lowered(schedule.direction)
            nodes = load_graph(log, compilation, graph) if graph else ()
            cases.append((compilation, schedule, {node.name: node for node in nodes}))
    return cases


CASES = [
    pytest.param(scenario, *case, id=f"{scenario}-{index}")
    for scenario in SCENARIOS
    for index, case in enumerate(schedules(scenario))
]
OUTER = [case for case in CASES if not case.values[2].subgraph]  # type: ignore[union-attr]
# Torch counts the ops around a branch among the ops of the branch's kernels.
FLAT = [case for case in OUTER if case.values[0] != "control_flow"]


def of(compilation: Compilation) -> Kernels:
    return {kernel.id: kernel for kernel in compilation.kernels}


def computing(names: tuple[str, ...], nodes: dict[str, FxNode]) -> set[str]:
    calls = {name for name in names if name in nodes and nodes[name].op in CALLS}
    return {name for name in calls if op_class(nodes[name].target) != "view"}


def called(scenario: str, kernel: Kernel) -> list[str]:
    """The functions that the wrapper of a kernel's output code calls, from its syntax tree."""
    log = next((TRACES / scenario).rglob("*.log"))
    tree = ast.parse(load_text(log, kernel.output_code))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [ast.unparse(call.func).removesuffix(".run") for call in calls]


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), FLAT)
def test_the_hulls_are_the_launches_of_the_wrapper(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    kernels = of(compilation)
    drawn = Counter(kernels[launch.kernel].name for launch in launches(schedule, nodes, kernels) if launch.kernel)
    functions = called(scenario, next(kernel for kernel in kernels.values() if kernel.direction == schedule.direction))

    assert drawn == {name: functions.count(name) for name in drawn}
    hulls = [group for group in fusion_model(schedule, nodes, kernels).groups if group.kind in HULLS]
    assert len(hulls) == len(launches(schedule, nodes, kernels))


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), FLAT)
def test_the_ops_of_a_kernels_launches_are_the_nodes_of_torchs_provenance(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    kernels = of(compilation)
    members: dict[str, set[str]] = {}
    for launch in launches(schedule, nodes, kernels):
        members.setdefault(launch.kernel, set()).update(launch.members)
    expected = {
        kernel.id: computing(kernel.origins, nodes)
        for kernel in kernels.values()
        if kernel.direction == schedule.direction
    }

    assert {kernel: members.get(kernel, set()) for kernel in expected} == expected


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), OUTER)
def test_every_op_is_in_a_hull_or_named_as_without_a_launch(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    model = fusion_model(schedule, nodes, of(compilation))
    drawn = {node.id.removeprefix("n:").partition("@")[0] for node in model.nodes}
    ops = computing(tuple(nodes), nodes)

    assert ops - drawn == set(ops_without_launch(schedule, nodes)) - drawn
    assert len({node.id for node in model.nodes}) == len(model.nodes)


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), CASES)
def test_the_saved_bytes_of_the_hulls_sum_to_the_schedules(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    assert schedule.bytes_before is not None
    assert schedule.bytes_after is not None
    saved = saved_bytes(schedule, launches(schedule, nodes, of(compilation)))
    assert sum(size or 0 for size in saved) == schedule.bytes_before - schedule.bytes_after


def grouped(model: GraphModel, frame: int) -> set[frozenset[str]]:
    """The ops that are in one group in a frame, by the ids of their boxes."""
    groups: dict[tuple[int, str], set[str]] = {}
    for node in model.nodes:
        key = next(key for first, key in reversed(node.joins) if first <= frame)
        groups.setdefault((node.group, key), set()).add(node.id)
    return set(map(frozenset, groups.values()))


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), CASES)
def test_the_groups_of_each_step_are_the_schedulers(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    kernels = of(compilation)
    model = fusion_model(schedule, nodes, kernels)
    owner = {node.id: next(link for link in (node.id, *node.links) if link.startswith("s:")) for node in model.nodes}
    for count in range(len(steps(schedule)) + 1):
        group_of = {f"s:{name}": group for group in groups_after(schedule, count) for name in group}
        expected: dict[tuple[int, tuple[str, ...]], set[str]] = {}
        for node in model.nodes:
            expected.setdefault((node.group, group_of[owner[node.id]]), set()).add(node.id)
        assert grouped(model, count + 1) == set(map(frozenset, expected.values()))
    assert all(node.joins[0][0] == 1 for node in model.nodes)
    last = len(fusion_frames(schedule, nodes, kernels)) - 2
    assert {len({node.group for node in model.nodes if node.id in group}) for group in grouped(model, last)} == {1}


def test_an_op_of_two_launches_is_drawn_in_both_and_says_so() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    copies = [node for node in model.nodes if "@" in node.id]
    assert [(node.label, node.thin) for node in copies] == [("add", True)]
    home = next(node for node in model.nodes if node.id in copies[0].links)
    assert home.kernel != copies[0].kernel
    assert home.tooltip.endswith("computed in 2 launches")
    assert sum(group.count for group in model.groups if group.kind in HULLS) == len(model.nodes) - len(copies)


def test_a_value_that_fusion_keeps_out_of_memory_has_no_bytes() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    sizes = {
        (model.nodes[edge.source].label, model.nodes[edge.target].label, edge.bytes > 0)
        for edge in model.edges
        if model.nodes[edge.source].group == model.nodes[edge.target].group
    }
    assert ("erf", "add", False) in sizes
    between = [edge for edge in model.edges if model.nodes[edge.source].group != model.nodes[edge.target].group]
    assert all(edge.bytes > 0 for edge in between)
    assert any(edge.label == "f32[512, 256] through reshape" for edge in model.edges)


def test_a_hull_has_its_kernels_number_name_and_savings() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation), seconds={compilation.kernels[0].id: 1e-3})
    hulls = {group.label: group for group in model.groups if group.kind in HULLS}
    norm = hulls["norm2 · layer_norm, add"]
    assert (norm.kind, norm.badge, norm.detail) == ("launch", "2", "saves 2.11 MB · 8 ops")
    assert (hulls["up · addmm"].kind, hulls["up · addmm"].badge) == ("library", "")
    assert [group.detail.split(" · ")[0] for group in hulls.values() if "ms" in group.detail] == ["1.00 ms (100 %)"]


def test_without_measured_times_a_hull_has_an_estimated_share() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    details = [group.detail.split(" · ")[0] for group in model.groups if group.kind in HULLS]
    assert all(re.fullmatch("about \\d+ % of time by (bytes|FLOPs)", detail) for detail in details)


def test_a_hull_is_in_the_deepest_module_that_all_its_ops_share() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    parents = {group.label: group.parent for group in model.groups if group.kind in HULLS}
    assert model.groups[parents["scaled_dot_product_flash_attention"]].label == "attention"
    assert parents["norm2 · layer_norm, add"] == -1


def test_measured_seconds_are_reported_to_be_and_are_split_over_a_kernels_ops() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    seconds = {kernel.id: 1e-3 for kernel in compilation.kernels}
    time = next(
        overlay
        for overlay in fusion_model(schedule, nodes, of(compilation), seconds=seconds).overlays
        if overlay.name == "time"
    )
    assert (time.title, time.unit) == ("time (measured), of the launch", "s")
    assert sum(value or 0 for value in time.values) == pytest.approx(1e-3 * len(seconds), rel=0.01)


def test_frames_begin_with_the_ops_and_end_with_the_kernels() -> None:
    compilation, schedule, nodes = schedules("training_step")[1]
    frames = fusion_frames(schedule, nodes, of(compilation))
    assert [(frame.title, frame.detail, frame.units, frame.moved) for frame in frames] == [
        ("Ops", "40 ops after decomposition; views are on the edges", None, None),
        (
            "Scheduler nodes",
            "40 ops in 11 loops and calls: 29 inlined by lowering",
            11,
            988_216,
        ),
        ("Fusion 1 of 2, round 1", "norm: sub, mul, sum with sum: 32.8 kB less", 10, 955_448),
        ("Fusion 2 of 2, round 2", "div, ne, full +6 with sub, exp, mul: 1.03 kB less", 9, 954_416),
        ("Code generation", "2 kernel functions have the loops of 4 nodes", 7, 954_416),
        ("Kernels", "4 kernels; each hull is one launch", 7, 954_416),
    ]


def test_the_bytes_of_each_step_go_from_the_count_before_fusion_to_the_count_after_it() -> None:
    for scenario in ("training_step", "transformer_block", "target_h100"):
        for _, schedule, _ in schedules(scenario):
            moved = [schedule.bytes_before or 0, *moved_bytes(schedule)]
            assert moved == sorted(moved, reverse=True)
            assert moved[-1] == schedule.bytes_after


def test_all_ops_of_a_launch_are_painted_with_its_bytes_and_folded_groups_with_their_sum() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    moved = next(overlay for overlay in model.overlays if overlay.name == "bytes")
    (gelu,) = [group for group in model.groups if group.label == "gelu"]
    assert [moved.shown(node) for node in range(gelu.first, gelu.last)] == [4_194_304] * 5
    assert sum(value or 0 for value in moved.values[gelu.first : gelu.last]) == pytest.approx(4_194_304, abs=5)
    assert sum(value or 0 for value in moved.values) == pytest.approx(schedule.bytes_after, abs=30)


def test_a_module_has_the_sum_of_eagers_calls_in_it() -> None:
    compilation, recorded, nodes = schedules("transformer_block")[0]
    calls = (EagerCall("aten.linear.default", ("addmm",), 1_000), EagerCall("aten.linear.default", ("addmm_1",), 500))
    model = fusion_model(replace(recorded, eager_calls=calls), nodes, of(compilation))
    (attention,) = [group for group in model.groups if group.id == "m:attention"]
    assert [fact.value for fact in attention.facts if fact.name == "eager"] == ["2 calls, 1.50 kB"]


def test_the_launches_that_lead_are_named_with_their_ids() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    assert fusion_model(schedule, nodes, of(compilation)).largest == (
        Largest("most time, estimated", "", "2 equal ones, first: up · addmm", "about 26 % by FLOPs", ("g:op13",)),
        Largest("most bytes", "3", "TransformerBlock · gelu", "4.19 MB", ("g:op14",)),
        Largest("saved most by fusion", "2", "norm2 · layer_norm, add", "2.11 MB", ("g:op9",)),
        Largest(
            "largest missed fusion",
            "2 and 4",
            "norm2 · layer_norm, add with TransformerBlock · add",
            "1.05 MB at stake",
            ("g:op9", "g:op16"),
        ),
    )


def test_a_graph_without_recorded_ops_shows_its_scheduler_nodes() -> None:
    compilation, schedule, _ = schedules("transformer_block")[0]
    model = fusion_model(schedule, {}, of(compilation))
    drawn = {node.id for node in model.nodes}
    assert drawn == {f"s:{node.name}" for node in schedule.before if node.ops != ("MultiOutput",)}
    assert all("its op was not recorded" in node.tooltip for node in model.nodes)
    assert model.edges


def test_launches_that_were_not_timed_one_by_one_share_their_kernels_time_equally() -> None:
    _, schedule, _ = schedules("transformer_block")[0]
    first, second, third, *_ = (replace(node, kernel="k") for node in schedule.before)
    boxes = ((first,), (second, third))
    assert launch_seconds(boxes, {}, {"k": 3.0}) == [1.5, 1.5]
    assert launch_seconds(boxes, {}, {"other": 3.0}) == [None, None]


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), CASES)
def test_the_bytes_of_the_ops_are_those_that_the_scheduler_counts_after_fusion(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    model = fusion_model(schedule, nodes, of(compilation))
    moved = next(overlay for overlay in model.overlays if overlay.name == "bytes").values
    assert sum(value or 0 for value in moved) == pytest.approx(schedule.bytes_after, abs=len(moved))


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), FLAT)
def test_without_scheduler_nodes_the_hulls_come_from_torchs_provenance(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    kernels = of(compilation)
    recorded = [launch for launch in launches(schedule, nodes, kernels) if launch.kernel]
    rebuilt = next(
        each for each in fusion_schedules(replace(compilation, schedules=())) if each.direction == schedule.direction
    )
    assert schedule.is_recorded
    assert not rebuilt.is_recorded

    def drawn(parts: list[Launch]) -> list[tuple[str, list[str]]]:
        return sorted((launch.kernel, sorted(launch.members)) for launch in parts)

    assert drawn(list(launches(rebuilt, nodes, kernels))) == drawn(recorded)
    assert [frame.title for frame in fusion_frames(rebuilt, nodes, kernels)] == [
        "Ops",
        "Scheduler nodes",
        "Fusions",
        "Kernels",
    ]


@pytest.mark.parametrize("index", [0, 1])
def test_the_members_of_triton_launches_are_the_nodes_of_torchs_graph_fragments(index: int) -> None:
    compilation, schedule, nodes = schedules("target_h100")[index]
    log = next((TRACES / "target_h100").rglob("*.log"))
    kernels = of(compilation)
    text = load_text(
        log, next(kernel for kernel in kernels.values() if kernel.direction == schedule.direction).output_code
    )
    fragments = {found.name: found.origins for found in find_kernels(text) if found.language == "triton"}
    members: dict[str, set[str]] = {}
    for launch in launches(schedule, nodes, kernels):
        members.setdefault(kernels[launch.kernel].name, set()).update(launch.members)
    assert fragments
    assert all(fragments.values())
    assert {name: members[name] for name in fragments} == {
        name: computing(found, nodes) for name, found in fragments.items()
    }


def test_without_provenance_the_ops_of_triton_kernels_are_known_and_those_of_library_calls_are_not() -> None:
    compilation, recorded, nodes = schedules("target_h100")[0]
    plain = tuple(
        replace(
            kernel,
            origins=() if kernel.extern else kernel.origins,
            calls=tuple(replace(call, origins=()) for call in kernel.calls),
        )
        for kernel in compilation.kernels
    )
    schedule = fusion_schedules(replace(compilation, schedules=(), kernels=plain))[0]
    kernels = {kernel.id: kernel for kernel in plain}
    model = fusion_model(schedule, nodes, kernels)
    unknown = [node for node in model.nodes if node.id.startswith("s:")]
    assert [node.label for node in unknown] == ["addmm", "addmm"]
    assert [node.tooltip for node in unknown] == [
        f"{node.id.removeprefix('s:')}: its op was not recorded" for node in unknown
    ]
    known = {node.id for node in fusion_model(recorded, nodes, of(compilation)).nodes if node.op_class != "matmul"}
    assert {node.id for node in model.nodes} - {node.id for node in unknown} == known
    assert any("through addmm" in edge.label for edge in model.edges)


def test_launches_with_the_ops_of_their_kernel_alone_are_one_hull_that_says_so() -> None:
    compilation, _, nodes = schedules("transformer_block")[0]
    first = compilation.kernels[0]
    twice = replace(first, calls=(first.calls[0], first.calls[0]), origins=first.origins)
    twice = replace(twice, calls=tuple(replace(call, origins=()) for call in twice.calls))
    (schedule,) = fusion_schedules(replace(compilation, schedules=(), kernels=(twice,)))
    model = fusion_model(schedule, nodes, {twice.id: twice})
    assert [group.detail for group in model.groups if group.kind in HULLS] == ["all 2 launches · 7 ops"]


def test_a_launch_names_the_launches_that_torch_refused_to_fuse_it_with() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    refusals = {
        group.label: [fact for fact in group.facts if fact.name.startswith("not fused")] for group in model.groups
    }
    assert [(fact.name, fact.value) for fact in refusals["norm2 · layer_norm, add"]] == [
        (
            "not fused with TransformerBlock · add (kernel 4)",
            "intermediate nodes between node1 & node2; both access 1.05 MB",
        ),
        (
            "not fused with norm1 · layer_norm (kernel 1)",
            "intermediate nodes between node1 & node2; both access 524 kB",
        ),
    ]
    assert not refusals["gelu"]


def test_an_edge_between_launches_that_torch_refused_to_fuse_is_marked() -> None:
    compilation, schedule, nodes = schedules("target_h100")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    place = {node.id: next(group for group in model.groups[::-1] if group.first <= index < group.last)
             for index, node in enumerate(model.nodes)}  # fmt: skip
    marked = [edge for edge in model.edges if edge.refused]
    assert len(marked) == 2
    for edge in marked:
        target = place[model.nodes[edge.target].id]
        assert f"not fused with {target.name} (kernel {target.badge})" in [
            fact.name for fact in place[model.nodes[edge.source].id].facts
        ]


@pytest.mark.parametrize(("scenario", "compilation", "schedule", "nodes"), CASES)
def test_a_damaged_schedule_is_drawn(
    scenario: str, compilation: Compilation, schedule: Schedule, nodes: dict[str, FxNode]
) -> None:
    rng = random.Random(scenario)
    for _ in range(6):
        before = [replace(node, kernel=rng.choice((node.kernel, "", "gone"))) for node in schedule.before]
        damaged = replace(
            schedule,
            before=tuple(node for node in before if rng.random() > 0.1),
            after=tuple(node for node in schedule.after if rng.random() > 0.1),
        )
        known = {name: node for name, node in nodes.items() if rng.random() > 0.1}
        model = fusion_model(damaged, known, of(compilation))
        assert len(model.nodes) >= len({group.id for group in model.groups if group.kind in HULLS})
        assert fusion_frames(damaged, known, of(compilation))[-1].title == "Kernels"


def loop(name: str, reads: str, writes: str, *origins: str, kernel: str, kind: str = "SchedulerNode") -> SchedulerNode:
    return SchedulerNode(name, kind, (name,), (), ((reads, 8),), ((writes, 8),), origins, None, "cpu", kernel)


def test_a_loop_that_lays_out_a_tensor_for_a_library_call_is_no_second_call() -> None:
    aten = "torch.ops.aten.{}.default"
    nodes = {
        "relu": FxNode("relu", "call_function", aten.format("relu"), "", ("x",), None, 1),
        "convolution": FxNode("convolution", "call_function", aten.format("convolution"), "", ("relu", "w"), None, 2),
        "exp": FxNode("exp", "call_function", aten.format("exp"), "", ("convolution",), None, 3),
    }
    template = schedules("transformer_block")[0][0].kernels[0]
    kernels = {
        name: replace(template, id=name, name=called, extern=extern, calls=(KernelCall(line),))
        for line, (name, called, extern) in enumerate(
            (("k0", "cpp_fused_relu", False), ("k1", "cpp_fused_convolution", False),
             ("k2", "extern_kernels.convolution", True), ("k3", "cpp_fused_convolution_exp", False)), 1
        )
    }  # fmt: skip
    before = (
        loop("op0", "x", "buf0", "relu", kernel="k0"),
        loop("op1", "buf0", "buf1", "convolution", kernel="k1"),
        loop("op2", "buf1", "buf2", "relu", "convolution", kernel="k2", kind="ExternKernelSchedulerNode"),
        loop("op3", "buf2", "buf3", "convolution", "exp", kernel="k3"),
    )
    schedule = Schedule(0, "inference", before, before, (), (), {}, one_count=True)
    assert [launch.members for launch in launches(schedule, nodes, kernels)] == [
        ("relu",), ("convolution",), ("convolution",), ("exp",),
    ]  # fmt: skip
    model = fusion_model(schedule, nodes, kernels)
    assert [(node.label, node.op_class) for node in model.nodes] == [
        ("relu", "pointwise"), ("copy for convolution", "copy"), ("convolution", "matmul"), ("exp", "pointwise"),
    ]  # fmt: skip
    edges = [(model.nodes[edge.source].label, model.nodes[edge.target].label, edge.bytes) for edge in model.edges]
    assert ("relu", "copy for convolution", 8) in edges
    assert ("copy for convolution", "convolution", 8) in edges
    assert ("convolution", "exp", 8) in edges


def test_a_call_without_a_kernel_is_named_by_its_op_and_has_no_time() -> None:
    compilation, schedule, nodes = schedules("control_flow")[0]
    model = fusion_model(schedule, nodes, of(compilation))
    details = {group.label: group.detail for group in model.groups if group.kind == "library"}
    assert details["cond"] == "no kernel: lines of the wrapper · 1 op"
    assert details["while_loop"] == "no kernel: lines of the wrapper · 1 op"


def test_eagers_calls_are_the_first_frame_and_hold_the_ops_that_they_became() -> None:
    compilation, recorded, nodes = schedules("transformer_block")[0]
    calls = (EagerCall("aten.gelu.default", ("mul_4", "erf", "add_4"), 2_100_000), EagerCall("aten.add.Tensor", (), 0))
    schedule, kernels = replace(recorded, eager_calls=calls), of(compilation)
    frames = fusion_frames(schedule, nodes, kernels)
    detail = "each outline is one call of an ATen op; bytes are estimated; 23 ops in no call"
    assert frames[0] == FusionStep("Eager", detail, 2, "call", 2_100_000)
    assert frames[1].detail == "26 ops; decomposed: gelu into 3; views are on the edges"
    assert [frame.title for frame in frames[1:]] == [frame.title for frame in fusion_frames(recorded, nodes, kernels)]
    model = fusion_model(schedule, nodes, kernels)
    joins = {node.id: node.joins for node in model.nodes}
    assert joins["n:erf"][:3] == ((0, "e:0:gelu"), (1, ""), (2, joins["n:erf"][2][1]))
    without = {node.id: node.joins for node in fusion_model(recorded, nodes, kernels).nodes}
    later = {name: tuple((frame + 1, key) for frame, key in pairs) for name, pairs in without.items()}
    assert {name: pairs[-len(later[name]) :] for name, pairs in joins.items()} == later
    gelu = next(group for group in model.groups if group.kind == "launch" and "gelu" in group.label)
    assert ("eager", "1 call: gelu, in part") in {(fact.name, fact.value) for fact in gelu.facts}


def test_a_launch_over_several_layers_names_them() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    groups = {group.label: group for group in fusion_model(schedule, nodes, of(compilation)).groups}
    spans = {label: [fact.value for fact in group.facts if fact.name == "spans"] for label, group in groups.items()}
    assert spans["norm2 · layer_norm, add"] == ["self, norm2"]
    assert spans["norm1 · layer_norm"] == []


def test_a_launch_has_its_place_its_kernel_and_the_values_from_outside_the_graph() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    groups = {
        group.label: {fact.name: fact.value for fact in group.facts}
        for group in fusion_model(schedule, nodes, of(compilation)).groups
    }
    facts = groups["norm2 · layer_norm, add"]
    assert (facts["launch"], facts["kernel"]) == ("5 of 9", "2")
    assert facts["graph inputs, parameters"] == "f32[8, 64, 256], f32[256], f32[256]"
    assert "kernel" not in groups["up · addmm"]


def test_a_constant_that_layers_share_is_in_no_layer_of_a_launch() -> None:
    compilation, schedule, nodes = schedules("transformer_block")[0]
    constant = replace(nodes["mul"], inputs=(), module="L['self']['norm1']")
    model = fusion_model(schedule, {**nodes, "mul": constant}, of(compilation))
    (gelu,) = (group for group in model.groups if group.label == "gelu")
    assert not [fact for fact in gelu.facts if fact.name == "spans"]
