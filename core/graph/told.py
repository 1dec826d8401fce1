"""What a backend told of the nodes of a graph, as overlays: a table's column after `node`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from core.graph.model import Node, Overlay
from core.graph.overlays import category
from core.report import Report, ToldTable

NODE = "node"
MOST_TOLD_OVERLAYS = 8
# How a column says its unit at its end, the unit in which a graph is painted, and what the numbers are multiplied with.
UNITS = {"µs": ("s", 1e-6), "us": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "bytes": ("B", 1.0)}
NOTE = "As the backend told it; the first, of several rows for a node."
Told = str | int | float | None


def told_overlays(report: Report, compilation: str, nodes: Sequence[Node], names: Iterable[str]) -> Iterator[Overlay]:
    """An overlay for each table that was told of a graph of these nodes."""
    known = set(names)
    found = [table for table in told_of(report, compilation) if paints(table, known)]
    for number, table in enumerate(found[:MOST_TOLD_OVERLAYS]):
        yield _overlay(told_name(number), table, nodes)


def told_name(number: int) -> str:
    """What the overlay of a graph's table of this number is called."""
    return f"told-{number}"


def told_of(report: Report, compilation: str) -> tuple[ToldTable, ...]:
    """The tables that were told of a compilation, and those that name none."""
    return tuple(table for table in report.told_tables if table.compilation in ("", compilation))


def paints(table: ToldTable, known: Collection[str]) -> bool:
    """Whether a table names nodes of a graph, no others, and has a column to paint them by."""
    if NODE not in table.columns[:-1]:
        return False
    at = table.columns.index(NODE)
    named = {str(row[at]) for row in table.rows if row[at] not in (None, "")}
    return bool(named) and named.issubset(known)


def _overlay(name: str, table: ToldTable, nodes: Sequence[Node]) -> Overlay:
    at = table.columns.index(NODE)
    column = table.columns[at + 1]
    first: dict[str, Told] = {}
    for row in table.rows:
        first.setdefault(str(row[at]), row[at + 1])
    title = f"{table.title}: {column}" if table.title else column
    values = [first.get(node.id.removeprefix("n:")) for node in nodes]
    if all(value is None or _is_number(value) for value in first.values()):
        return _numbers(name, title, column, values)
    return category(name, title, ["" if value is None else str(value) for value in values], NOTE)


def _is_number(value: Told) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(name: str, title: str, column: str, values: Sequence[Told]) -> Overlay:
    unit, factor = UNITS.get(column.strip("()").rpartition(" ")[2].strip("("), ("", 1.0))
    painted = tuple(value * factor if isinstance(value, (int, float)) else None for value in values)
    return Overlay(name, title, "number", unit, painted, "sum", note=NOTE)
