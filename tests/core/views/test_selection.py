"""The selected op at all stages of a compilation, and the part of it that a page shows."""

from functools import partial
from pathlib import Path

import pytest

from core import Run, open_report, side_of_run
from core.report import Compilation
from core.views.fusion import FusionView
from core.views.selection import OpId, SelectedOp
from tests.support.homes import add_scenario

FORWARD, BACKWARD = "inductor_post_grad_graph.forward", "inductor_post_grad_graph.backward"


@pytest.fixture
def training(tmp_path: Path) -> tuple[Run, Compilation]:
    run_id = add_scenario(tmp_path, "training_step")
    run = Run(run_id, tmp_path / "runs" / run_id)
    return run, open_report(run).compilations[0]


def find(training: tuple[Run, Compilation], selected: str, graph: str = "") -> SelectedOp:
    run, compilation = training
    op = SelectedOp.find(side_of_run(run), compilation, selected, graph)
    assert op is not None
    return op


def test_an_op_of_dynamos_graph_has_the_lowered_ops_and_kernels_of_torchs_map(
    training: tuple[Run, Compilation],
) -> None:
    op = find(training, "n:gelu", "dynamo_output_graph").op

    assert op.early == ("gelu",)
    assert op.lowered["forward"] == ("mul_2", "mul_3", "erf", "add_2", "mul_4")
    assert op.kernels == ("0/0.forward.cpp_fused_gelu_1",)
    assert op.by_line == {"backward"}


def test_a_lowered_op_leads_back_to_dynamos_and_keeps_its_name_where_backward_computes_it_again(
    training: tuple[Run, Compilation],
) -> None:
    op = find(training, "n:erf", FORWARD).op

    assert (op.early, op.lowered) == (("gelu",), {"forward": ("erf",), "backward": ("erf",)})
    assert [kernel.split(".")[1] for kernel in op.kernels] == ["forward", "backward"]
    assert not op.by_line


def test_an_op_of_backward_is_dynamos_by_the_line_only(training: tuple[Run, Compilation]) -> None:
    op = find(training, "n:mul_10", BACKWARD).op

    assert op.by_line == {"early", "forward"}
    assert all(kernel.startswith("0/0.backward.") for kernel in op.kernels)


@pytest.mark.parametrize("selected", ["k:0/0.forward.cpp_fused_gelu_1", "n:add_2"])
def test_the_id_of_an_op_names_its_compilation_graph_and_item(training: tuple[Run, Compilation], selected: str) -> None:
    op = find(training, selected).op

    assert str(op.id) == f"0/0 {FORWARD} {selected}"
    assert op.id == OpId("0/0", FORWARD, selected)
    assert op.id.query == {"compilation": "0/0", "of": FORWARD, "select": selected}


def test_an_op_of_forward_is_no_op_of_the_same_name_in_the_fusion_of_backward(
    training: tuple[Run, Compilation],
) -> None:
    run, compilation = training
    report, nodes = open_report(run), side_of_run(run).nodes
    views = [FusionView(report, compilation, each, partial(nodes, compilation)) for each in compilation.schedules]
    forward, backward = ((view.picture, view.graph) for view in views)

    launch = find(training, "g:op0", FORWARD).op
    assert launch.in_fusion(*forward) == "g:op0"
    assert launch.in_fusion(*backward) != "g:op0"
    assert backward[0].find("g:op0") is not None
    chip = find(training, "g:op0", FORWARD).on("fusion", run, side_of_run(run), compilation, None)
    assert chip.part.words.startswith("launch, ")
    names = [{node.name for node in nodes(compilation, view.graph)} for view in views if view.graph is not None]
    both = set.intersection(*names)
    assert len(names) == 2
    own = [name for name in sorted(both) if backward[0].find(f"n:{name}") is not None]
    ops = [find(training, f"n:{name}", FORWARD).op for name in own]
    assert own
    for op in ops:
        found = op.in_fusion(*backward)
        assert found is None or found.startswith("k:") or found.removeprefix("n:") in op.lowered["backward"]


def test_what_no_graph_has_is_no_op(training: tuple[Run, Compilation]) -> None:
    run, compilation = training
    for selected in ("n:gone", "k:gone", "g:gone", "s:"):
        assert SelectedOp.find(side_of_run(run), compilation, selected, "") is None


@pytest.mark.parametrize(
    ("page", "choice", "part"),
    [
        ("fx_graph", None, ("n:gelu", "its node")),
        ("fx_graph", FORWARD, ("n:mul_2", "node 1 of 5")),
        ("fx_graph", "aot_backward_graph", ("n:permute_1", "node 1 of 30 by line only")),
        ("partition", "aot_joint_graph", ("n:mul_2", "node 1 of 5")),
        ("kernels", None, ("k:0/0.forward.cpp_fused_gelu_1", "its kernel")),
        ("speedup", None, ("", "")),
    ],
)
def test_a_page_selects_its_part_of_an_op(
    training: tuple[Run, Compilation], page: str, choice: str | None, part: tuple[str, str]
) -> None:
    run, compilation = training
    op = find(training, "n:gelu", "dynamo_output_graph").on(page, run, side_of_run(run), compilation, choice)

    assert (op.part.item, op.part.words) == part
    assert op.here == f"selected · {part[1] or 'not on this page'}"
