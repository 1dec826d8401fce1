"""What a backend told of nodes, painted onto the graph that it told it of."""

import pytest

from core.graph.fx import fx_model
from core.graph.model import Overlay
from core.graph.overlays import annotation_overlays
from core.report import AnnotationTable, Report, Setting
from tests.support.reports.fx_nodes import fx

NODES = (fx("x", op="placeholder", target="x"), fx("relu", ["x"]), fx("exp", ["relu"]))


def painted(*tables: AnnotationTable) -> list[tuple[str, str, str, tuple[object, ...], tuple[str, ...]]]:
    """Title, unit, kind, values by node and categories of each overlay."""
    report = Report(Setting(), told_tables=tables)
    found: list[Overlay] = list(
        annotation_overlays(report, "0/0", fx_model(NODES).nodes, [node.name for node in NODES])
    )
    return [(one.title, one.unit, one.kind, one.values, one.categories) for one in found]


def table(columns: tuple[str, ...], *rows: tuple[str | int | float | None, ...], of: str = "0/0") -> AnnotationTable:
    return AnnotationTable(of, "Program", columns, rows)


def test_words_are_categories_of_which_the_first_row_of_a_node_counts() -> None:
    told = table(("node", "run by"), ("relu", "kernel"), ("exp", "torch"), ("relu", "torch"))
    assert painted(told) == [("Program: run by", "", "category", (None, 0, 1), ("kernel", "torch"))]


@pytest.mark.parametrize(
    ("column", "unit", "value"),
    [("µs", "s", 2e-6), ("time (µs)", "s", 2e-6), ("time ms", "s", 2e-3), ("bytes", "B", 2.0), ("uses", "", 2.0)],
)
def test_numbers_have_the_unit_that_their_column_ends_with(column: str, unit: str, value: float) -> None:
    told = table(("n", "node", column, "rest"), (0, "relu", 2, "a"), (1, "exp", None, "b"))
    assert painted(told) == [(f"Program: {column}", unit, "number", (None, value, None), ())]


@pytest.mark.parametrize(
    "told",
    [
        table(("node", "run by"), ("relu", "kernel"), ("gelu", "torch")),
        table(("node", "run by"), ("relu", "kernel"), of="0/1"),
        table(("run by", "node"), ("kernel", "relu")),
        table(("name", "run by"), ("relu", "kernel")),
        table(("node", "run by")),
    ],
    ids=["another graph's node", "another compilation", "nothing after node", "no column node", "no row"],
)
def test_a_table_of_another_graph_paints_nothing(told: AnnotationTable) -> None:
    assert painted(told) == []
