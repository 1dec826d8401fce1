"""The content of an HTML file as one value: titles, blocks of text, tables, code and charts, and the graphs' data.

Each text is a plain string or a span of one, so that a scrubber can change all of them before they become HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from core.views.markdown import LONGEST_LINE, WORD_JOINER, one_line

Kind = Literal["", "code", "strong", "em", "item"]
# An escaped character, inline code, and the marks of bold and italic text: all that core/views writes.
INLINE = re.compile(
    r"\\(?P<escaped>[^A-Za-z0-9\s])|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|(?P<strong>\*\*)|(?P<em>\*)"
)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A run of text in one style; an `item` is an empty span before each item of a list."""

    text: str
    kind: Kind = ""


Prose = tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code; `language` is a name of Pygments, `first` the first line's number, `notes` are texts by line."""

    text: str
    language: str = "python"
    first: int = 1
    notes: tuple[tuple[int, str], ...] = ()


def spans(markdown: str) -> Prose:
    """Return the spans of a view's Markdown; lines that begin with `- ` are items of a list."""
    found: list[TextSpan] = []
    for line in markdown.split("\n"):
        if line.startswith("- "):
            found.append(TextSpan("", "item"))
        found += _line(line.removeprefix("- "))
    return tuple(found)


def _line(line: str) -> list[TextSpan]:
    line = line.replace(WORD_JOINER, "")
    found: list[TextSpan] = []
    style: Kind = ""
    text, end = "", 0
    for match in INLINE.finditer(line):
        text += line[end : match.start()] + (match["escaped"] or "")
        end = match.end()
        if match["escaped"]:
            continue
        found.append(TextSpan(text, style))
        text = ""
        if match["code"]:
            found.append(TextSpan(match["code"].strip() if len(match["ticks"]) > 1 else match["code"], "code"))
        else:
            style = _toggled(style, "strong" if match["strong"] else "em")
    found.append(TextSpan(text + line[end:], style))
    return [span for span in found if span.text]


def _toggled(style: Kind, mark: Kind) -> Kind:
    return "" if style == mark else mark


Cell = str | Prose


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; its tone is `ok`, `warn`, `bad`, `quiet` or empty."""

    macro: ClassVar[str] = "text"

    prose: Prose
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with one header row; `numeric` are the columns that are aligned to the right."""

    macro: ClassVar[str] = "table"

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Listing:
    """Code that unfolds; `kernel` is its id as in the graphs (`k:…`), with the kernel's colour."""

    macro: ClassVar[str] = "listing"

    title: str
    code: Code
    kernel: str = ""
    colour: str = ""
    detail: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """The place of an interactive graph; its data is in the page's `graphs`."""

    macro: ClassVar[str] = "drawing"

    id: str
    label: str
    is_half: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, as a share of the longest one; `low` and `high` are the ends of its interval."""

    label: str
    text: str
    share: float
    low: float | None = None
    high: float | None = None
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart with the value of each bar as text."""

    macro: ClassVar[str] = "bars"

    label: str
    rows: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """An interval with its middle, as places between 0 and 1; `claim` is True if a claim is based on it."""

    label: str
    text: str
    low: float
    middle: float
    high: float
    claim: bool


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals on one axis with the value of each as text; `mark` is the place of a line across all of them."""

    macro: ClassVar[str] = "intervals"

    label: str
    mark: float
    rows: tuple[IntervalRow, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: points between (0, 0) and (1, 1), in steps."""

    label: str
    colour: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A line chart; `top` is the largest value as text, and `across` the meaning of the horizontal axis."""

    macro: ClassVar[str] = "curves"

    label: str
    top: str
    across: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks below a title, to unfold."""

    macro: ClassVar[str] = "fold"

    title: Prose
    blocks: tuple[Block, ...]
    is_open: bool = False


Block = Text | Table | Listing | Drawing | Bars | Intervals | Curves | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page; its id is its link."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class HtmlChip:
    """A fact in the header; `section` is the id of the section with its evidence, empty for none."""

    value: str
    label: str
    tone: str
    section: str


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page: `drawings` are messages of the graph view by place, `levels` all further levels by graph."""

    title: str
    verdict: Prose
    chips: tuple[HtmlChip, ...]
    sections: tuple[Section, ...]
    origin: str
    drawings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


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
