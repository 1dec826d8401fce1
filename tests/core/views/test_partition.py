"""The partition of a recorded training step in words: kept activations, decisions, and saved values."""

from dataclasses import replace

import pytest

from core.report import KeptValue
from core.views.passes import PartitionView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.films import reader
from tests.support.tables import texts, values


@pytest.fixture(scope="module")
def joint() -> PartitionView:
    log = TRACES / "training_step" / "trace.log"
    compilation = recorded_report(log).compilations[0]
    (view,) = PartitionView.of(compilation, reader(log, compilation))
    return view


def test_the_title_names_what_the_forward_keeps(joint: PartitionView) -> None:
    assert joint.title == "The forward saves 9 activations (167 kB) for the backward."
    assert joint.caption == (
        "Nodes by the partitioner's decision: 21 forward, 41 backward, 13 saved (9 activations, 4 inputs), "
        "11 recomputed, 10 dropped. Before Inductor that was 9 activations (167 kB)."
    )


def test_without_the_compiled_code_the_plan_is_alone(joint: PartitionView) -> None:
    planned = replace(joint, partition=replace(joint.partition, kept=None, recorded=False))

    assert planned.title == "AOTAutograd's partition saves 9 activations (167 kB) for the backward."
    assert planned.caption.startswith("Nodes by decision, derived from the three graphs: 21 forward, ")
    assert planned.caption.endswith(
        "10 dropped. Reasons for the decisions are not recorded. "
        "Whether the compiled code saves the same values is not recorded."
    )


def test_a_copy_of_an_input_is_counted_and_named(joint: PartitionView) -> None:
    copy = KeptValue("primals_4", "buf9", "activation", 64)
    copied = replace(joint, partition=replace(joint.partition, kept=(copy,)))

    assert copied.caption.endswith("9 activations (167 kB); Inductor also saves 1 copy of an input.")
    assert [row["kept as"] for row in texts(copied.table) if row["value"] == "primals_4"] == ["buf9, a copy"]


def test_the_saved_values_are_rows_the_largest_first(joint: PartitionView) -> None:
    assert [value.name for value in joint.table.rows[:2]] == ["primals_4", "addmm"]
    assert values(joint.table)[1] == {
        "value": "addmm",
        "bytes": 65536,
        "shape": "f32[64, 256]",
        "kind": "activation",
        "kept as": "buf5",
        "why": "cannot recompute: not in recomputable allowlist",
        "your line": "logits = self.head(F.gelu(self.hidden(self.norm(x))))",
    }


def test_a_node_has_its_decision_and_torchs_reasons(joint: PartitionView) -> None:
    assert joint.node_rows(joint.nodes["primals_3"]) == {
        "node": "`primals_3 = primals_3()`",
        "decision": "**saved**: Computed in the forward, or an input of it, and saved for the backward.",
        "size": "32.8 kB",
        "torch's reasons": r"cannot recompute\: primal input",
    }
    assert joint.node_rows(joint.nodes[joint.partition.dropped[0]])["decision"] == (
        "dropped: dead, or equal to another node"
    )
