"""The partition, derived from graphs without a record of it."""

from dataclasses import replace

import pytest

from core.analysis.memory import partitions, tensor_bytes
from core.report import FxNode, Partition, SavedValue, TensorMeta
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.films import reader


def test_partition_without_a_record_is_derived_from_the_graphs() -> None:
    log = TRACES / "foreign" / "trace.log"
    compilation = recorded_report(log).compilations[1]
    assert partitions(compilation, reader(log, compilation))[0] == Partition(
        graph="aot_joint_graph",
        recorded=False,
        decisions={
            "primals_1": "saved", "primals_2": "forward", "primals_3": "saved", "tangents_1": "backward",
            "permute": "recomputed", "addmm": "forward", "sum_1": "forward", "gt": "forward", "permute_1": "backward",
            "mm": "backward", "permute_2": "backward", "mm_1": "backward", "sum_2": "backward", "view": "backward",
        },
        saved=(SavedValue("primals_1", "input", 512), SavedValue("primals_3", "input", 1024)),
        reasons={},
        policies={},
        dropped=("permute_3", "permute_4"),
    )  # fmt: skip


@pytest.mark.parametrize("half", ["aot_forward_graph", "aot_backward_graph"])
def test_a_joint_graph_of_which_one_half_was_logged_has_no_partition(half: str) -> None:
    log = TRACES / "foreign" / "trace.log"
    compilation = recorded_report(log).compilations[1]
    graphs = tuple(graph for graph in compilation.graphs if graph.stage != half)
    assert len(graphs) == len(compilation.graphs) - 1
    assert partitions(replace(compilation, graphs=graphs), reader(log, compilation)) == ()


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [("f32", ("8", "4"), 128), ("b8", ("3",), 3), ("c64", ("2",), 16), ("bf16", (), 2), ("f32", ("s0", "4"), None)],
)
def test_bytes_of_a_value(dtype: str, shape: tuple[str, ...], expected: int | None) -> None:
    assert tensor_bytes(FxNode("a", "call_function", "f", "", (), TensorMeta(dtype, shape), 1)) == expected
