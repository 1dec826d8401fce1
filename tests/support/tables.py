"""Blocks of a page, as tests read them."""

from collections.abc import Iterable
from typing import Any

from core.views.blocks import Block, Table, flat
from core.views.printed import as_text


def table_of(page: Iterable[Block], name: str) -> Table[Any]:
    """The table of that name."""
    return next(block for block in flat(page) if isinstance(block, Table) and block.name == name)


def texts(table: Table[Any]) -> list[dict[str, str]]:
    """Each row as text by column, without optional columns that are empty."""
    return [{column.name: column.text(row) for column in table.shown} for row in table.rows]


def values(table: Table[Any]) -> list[dict[str, Any]]:
    """Each row's values by column, without optional columns that are empty."""
    return [{column.name: column.value(row) for column in table.shown} for row in table.rows]


def text_of(page: Iterable[Block]) -> str:
    """A page as a terminal shows it."""
    return "\n".join(as_text(page))
