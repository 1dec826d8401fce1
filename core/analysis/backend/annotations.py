"""Node values that a backend reported for its graph, used to color the nodes."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Report, ToldTable

NODE_COLUMN = "node"

CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class NodeValues:
    """Node values from one column of a reported table: the column after `node`."""

    title: str
    column: str
    values: dict[str, CellValue]


def node_values(report: Report, compilation: str) -> tuple[NodeValues, ...]:
    """Return the node values of a compilation's reported tables; for a node with several rows, the first row counts."""
    tables = (table for table in report.told_tables if table.compilation == compilation)
    return tuple(_column_values(table) for table in tables if NODE_COLUMN in table.columns[:-1])


def _column_values(table: ToldTable) -> NodeValues:
    at = table.columns.index(NODE_COLUMN)
    values: dict[str, CellValue] = {}
    for row in table.rows:
        if isinstance(name := row[at], str):
            values.setdefault(name, row[at + 1])
    return NodeValues(table.title, table.columns[at + 1], values)
