"""What a backend told of the nodes of its graph, as values to paint them by."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Report, ToldTable

NODE_COLUMN = "node"

CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class NodeValues:
    """A told table's values by node: those of the column that stands after `node`."""

    title: str
    column: str
    values: dict[str, CellValue]


def node_values(report: Report, compilation: str) -> tuple[NodeValues, ...]:
    """What the tables of a compilation say of nodes; a node that has several rows has the value of the first."""
    tables = (table for table in report.told_tables if table.compilation == compilation)
    return tuple(_of(table) for table in tables if NODE_COLUMN in table.columns[:-1])


def _of(table: ToldTable) -> NodeValues:
    at = table.columns.index(NODE_COLUMN)
    values: dict[str, CellValue] = {}
    for row in table.rows:
        if isinstance(name := row[at], str):
            values.setdefault(name, row[at + 1])
    return NodeValues(table.title, table.columns[at + 1], values)
