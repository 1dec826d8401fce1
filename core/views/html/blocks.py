"""Blocks for sections of an HTML file: paragraphs of Markdown, folds, tables; sections with content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.views.html.page import Block, Fold, Section, Table, Text
from core.views.html.spans import spans
from core.views.markdown import LONGEST_LINE, one_line


def section(name: str, title: str, blocks: Iterable[Block]) -> Iterator[Section]:
    """Yield a section if it has any block."""
    content = tuple(blocks)
    if content:
        yield Section(name, title, content)


def paragraph(markdown: str, tone: str = "") -> Iterator[Text]:
    """Yield a paragraph unless it is empty."""
    if markdown:
        yield Text(spans(markdown), tone)


def folded(title: str, blocks: Sequence[Block], is_open: bool = False) -> Iterator[Fold]:
    """Yield blocks below a title, unless there are none."""
    if blocks:
        yield Fold(spans(title), tuple(blocks), is_open)


def table(rows: Sequence[Mapping[str, str]], numeric: Iterable[str] = ()) -> Iterator[Table]:
    """Yield a view's rows as a table, unless there are none; columns without any text are left out."""
    head = tuple(name for name in rows[0] if any(row[name] for row in rows)) if rows else ()
    if head:
        yield Table(head, tuple(tuple(row[name] for name in head) for row in rows), frozenset(numeric))


def left_out(lines: Sequence[str]) -> Iterator[Text]:
    """Yield what was left out of the file, as a list."""
    if lines:
        yield from paragraph("Left out, so that the file stays small; the dashboard shows all of it:")
        yield Text(spans("\n".join(f"- {one_line(line, LONGEST_LINE)}" for line in lines)))
