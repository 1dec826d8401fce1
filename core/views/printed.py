"""Blocks as text of a terminal, and as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from core.base import words as fmt
from core.views import blocks
from core.views.markdown import CONTROL, indented_line

# Rows of a table, lines of code, and characters of such a line, that a terminal shows.
MOST_ROWS, MOST_LINES, MOST_CHARS = 100, 60, 400


def as_text(page: Iterable[blocks.Block], indent: str = "") -> Iterator[str]:
    """Yield the lines of blocks for a terminal; a long table is cut, and says so."""
    for block in blocks.flat(page):
        for line in _lines(block):
            yield f"{indent}{line}".rstrip()


def _lines(block: blocks.Block) -> Iterator[str]:
    match block:
        case blocks.Title() | blocks.Text():
            yield from blocks.words(block.prose).split("\n")
        case blocks.Heading():
            yield from ("", block.text, "=" * len(block.text))
        case blocks.Table():
            yield from table_lines(block.texts(block.rows[:MOST_ROWS]))
            yield from _more(len(block.rows) - MOST_ROWS, "row")
        case blocks.TextTable():
            yield from table_lines(replace(block, rows=block.rows[:MOST_ROWS]))
            yield from _more(len(block.rows) - MOST_ROWS, "row")
        case blocks.Listing():
            lines = block.code.text.splitlines()
            yield f"{block.title}{block.detail and f' ({block.detail})'}:"
            yield from (f"  {CONTROL.sub('�', line[:MOST_CHARS])}" for line in lines[:MOST_LINES])
            yield from _more(len(lines) - MOST_LINES, "line")
        case blocks.Bars() | blocks.Intervals():
            yield block.label
            yield from (f"  {row.label}: {row.text}" for row in block.rows)
        case blocks.Curves():
            yield f"{block.label}: up to {block.top}, {block.across}"
        case blocks.Fold():
            yield blocks.words(block.title)
            yield from as_text(block.blocks, "  ")
        case blocks.Card():
            yield ""
            yield from as_text(block.blocks)
        case _:
            # A terminal shows neither drawings nor fields.
            return


def table_lines(table: blocks.TextTable) -> Iterator[str]:
    """Yield the lines of a whole table for a terminal; none for a table without rows."""
    from tabulate import tabulate

    cells = [[*map(indented_line, row)] for row in table.rows]
    places = ["right" if name in table.numeric else "left" for name in table.head]
    if cells:
        lines = tabulate(
            cells, table.head, "simple", disable_numparse=True, colalign=places, preserve_whitespace=True
        ).splitlines()
        yield from ("", *lines, "")


def _more(count: int, noun: str) -> Iterator[str]:
    if count > 0:
        yield f"… {fmt.count(count, noun)} more"


def as_data(page: Iterable[blocks.Block]) -> list[dict[str, Any]]:
    """Return blocks as JSON data; tables have all rows with their values, and drawings only their label."""
    return [data for block in blocks.flat(page) for data in _data(block)]


def _data(block: blocks.Block) -> Iterator[dict[str, Any]]:
    kind = type(block).__name__.lower()
    match block:
        case blocks.Title() | blocks.Text():
            yield {"kind": kind, "text": blocks.words(block.prose)}
        case blocks.Heading():
            yield {"kind": kind, "text": block.text}
        case blocks.Table():
            columns = block.shown
            rows = [[column.value(row) for column in columns] for row in block.rows]
            yield {"kind": kind, "name": block.name, "columns": [column.name for column in columns], "rows": rows}
        case blocks.TextTable():
            yield {"kind": "table", "name": "", "columns": [*block.head], "rows": [[*row] for row in block.rows]}
        case blocks.Listing():
            yield {"kind": kind, "title": block.title, "language": block.code.language, "text": block.code.text}
        case blocks.Bars() | blocks.Intervals():
            yield {"kind": kind, "label": block.label, "rows": [[row.label, row.text] for row in block.rows]}
        case blocks.Curves() | blocks.Drawing():
            yield {"kind": kind, "label": block.label}
        case blocks.Fold():
            yield {"kind": kind, "title": blocks.words(block.title), "blocks": as_data(block.blocks)}
        case blocks.Card():
            yield {"kind": kind, "name": block.name, "blocks": as_data(block.blocks)}
        case _:
            return
