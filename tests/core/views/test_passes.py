"""The passes over the graphs of a recorded training step: steps, changes, and what changed nothing."""

from dataclasses import replace

import pytest

from core.views.blocks import words
from core.views.graph import GraphFrame
from core.views.passes import PassesView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.films import reader
from tests.support.tables import table_of, text_of, texts, values


@pytest.fixture(scope="module")
def chapters() -> dict[str, PassesView]:
    log = TRACES / "training_step" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    return {passes.id: passes for passes in PassesView.of(report, compilation, reader(log, compilation))}


def test_each_graph_has_its_steps(chapters: dict[str, PassesView]) -> None:
    assert [passes.label for passes in chapters.values()] == ["dynamo · 0", "joint · 4", "forward · 0", "backward · 1"]
    assert chapters["joint"].title == "4 steps changed the joint graph: 88 ops before, 87 after."
    assert chapters["dynamo"].title == "No pass changed Dynamo's graph: 5 ops."


def test_a_step_has_a_row_and_a_frame(chapters: dict[str, PassesView]) -> None:
    joint = chapters["joint"]
    assert texts(joint.table)[1] == {
        "step": "1",
        "pass or graph": "remove_noop_ops",
        "stage": "joint",
        "µs": "1,110",
        "added": "0",
        "removed": "2",
        "rewritten": "1",
    }
    picture = joint.picture
    assert len(picture.frames) == joint.last + 1
    assert picture.frames[1] == GraphFrame(
        "remove_noop_ops", "−2 ~1 in 1.11 ms", removed=("n:alias", "n:alias_1"), rewritten=("n:exp_1",)
    )
    assert {picture.node_of("n:alias"), picture.node_of("n:exp_1")}.isdisjoint({None})


def test_a_step_shows_its_pass_and_the_changed_nodes(chapters: dict[str, PassesView]) -> None:
    joint = chapters["joint"]
    removed = "alias = torch.ops.aten.alias.default(sub_2)\nalias_1 = torch.ops.aten.alias.default(alias)"

    assert joint.step_title(1) == "**Step 1**: `remove_noop_ops`"
    assert text_of(joint.step(1)).splitlines() == [
        "The pass is at `torch/_inductor/fx_passes/post_grad.py:1225`",
        "2 nodes removed:",
        *(f"  {line}" for line in removed.splitlines()),
        "1 node rewritten:",
        "  exp_1 = torch.ops.aten.exp.default(sub_2)",
    ]
    assert text_of(joint.step(3)).splitlines()[1:3] == [
        "2 × pattern `pointless_permute_pair` at `torch/_inductor/fx_passes/joint_graph.py:896`",
        "2 × pattern `pointless_view` at `torch/_inductor/fx_passes/joint_graph.py:861`",
    ]


def test_passes_that_changed_nothing_are_counted_the_slowest_first(chapters: dict[str, PassesView]) -> None:
    (fold,) = chapters["joint"].unchanged
    assert words(fold.title) == "36 passes changed nothing, in 29.8 ms"
    assert values(table_of(fold.blocks, "unchanged"))[0] == {
        "stage": "post_grad",
        "pass": "pass_pattern_1",
        "µs": 11068.8,
    }


def test_a_node_is_described_as_it_is_after_a_step(chapters: dict[str, PassesView]) -> None:
    joint = chapters["joint"]
    arguments = []
    for number in (0, 1):
        node = next(node for node in joint.nodes(number) if node.name == "exp_1")
        arguments.append(joint.node_rows(number, node)["arguments"])
    assert arguments == ["`alias_1`", "`sub_2`"]


def test_a_step_says_what_its_pass_does_to_a_call_where_a_sweep_turned_it_off(chapters: dict[str, PassesView]) -> None:
    timed = replace(chapters["joint"], effects={"remove_noop_ops": "saves 112 µs a call"})
    assert timed.picture.frames[1].detail == "−2 ~1 in 1.11 ms; saves 112 µs a call"
    assert [row["a call"] for row in texts(timed.table)][1] == "saves 112 µs a call"
    assert "a call" not in texts(chapters["joint"].table)[1]
