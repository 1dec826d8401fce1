"""Overlays from tables that a backend reported: the column after `node`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from core.analysis.backend import NodeValues, node_values
from core.graph.model import Node, Overlay
from core.graph.overlays import category
from core.report import Report

MOST_TOLD_OVERLAYS = 8
# Unit at the end of a column's name → unit in which the graph is painted, and the factor between them.
UNITS = {"µs": ("s", 1e-6), "us": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "bytes": ("B", 1.0)}
NOTE = "As the backend told it; the first, of several rows for a node."
Value = str | int | float | None


def annotation_overlays(
    report: Report, compilation: str, nodes: Sequence[Node], names: Iterable[str]
) -> Iterator[Overlay]:
    """Yield an overlay for each table reported for a graph with these nodes."""
    for number, table in enumerate(annotations_of(report, compilation, set(names))[:MOST_TOLD_OVERLAYS]):
        yield _overlay(annotation_name(number), table, nodes)


def annotation_name(number: int) -> str:
    """Return the overlay name of a graph's reported table."""
    return f"told-{number}"


def annotations_of(report: Report, compilation: str, names: Collection[str]) -> tuple[NodeValues, ...]:
    """Return the reported values for a graph: tables whose nodes are all in the graph."""
    tables = node_values(report, compilation)
    return tuple(table for table in tables if table.values and set(table.values).issubset(names))


def _overlay(name: str, table: NodeValues, nodes: Sequence[Node]) -> Overlay:
    title = f"{table.title}: {table.column}" if table.title else table.column
    values = [table.values.get(node.id.removeprefix("n:")) for node in nodes]
    if all(value is None or _is_number(value) for value in table.values.values()):
        return _numbers(name, title, table.column, values)
    return category(name, title, ["" if value is None else str(value) for value in values], NOTE)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(name: str, title: str, column: str, values: Sequence[Value]) -> Overlay:
    unit, factor = UNITS.get(column.strip("()").rpartition(" ")[2].strip("("), ("", 1.0))
    painted = tuple(value * factor if isinstance(value, (int, float)) else None for value in values)
    return Overlay(name, title, "number", unit, painted, "sum", note=NOTE)
