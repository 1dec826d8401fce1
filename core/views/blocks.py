"""Content of a page as blocks: one value for the page, the HTML file, the terminal and JSON.

A page is a generator of blocks: titles, texts, tables, code, charts and drawings. Blocks hold no Streamlit, no HTML and
no key of a widget, but names: a page gets what the visitor selected under a name as `Picks`.
Each text is a tuple of spans, so that a scrubber can change every text before it is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from core.views.markdown import CONTROL, WORD_JOINER, code, literal

Row = TypeVar("Row")
# The sign of a certain difference in a marked column.
UNLIKE = "≠"

Kind = Literal["", "code", "strong", "em", "item", "link"]
# An escaped character, inline code, the marks of bold and italic text, and a link: all that core/views writes.
INLINE = re.compile(
    r"\\(?P<escaped>[^A-Za-z0-9\s])|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|(?P<strong>\*\*)|(?P<em>\*)"
    r"|\[(?P<label>(?:\\.|[^\]\\])+)\]\((?P<url>https://[^)\s]+)\)"
)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A piece of text in one style; an `item` is an empty span that begins a list item.

    A `link` leads to `url`.
    """

    text: str
    kind: Kind = ""
    url: str = ""


Prose = tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code.

    `language` is a Pygments name, `first` the number of the first line, and `notes` has (line number, text)
    pairs.
    """

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


def markdown(prose: Prose) -> str:
    """Return spans as Markdown that shows them literally in their styles."""
    return "".join(
        f"[{literal(span.text)}]({span.url})" if span.url else MARKDOWN[span.kind](span.text) for span in prose
    ).removeprefix("\n")


MARKDOWN: Mapping[Kind, Callable[[str], str]] = {
    **dict.fromkeys(("", "link"), literal),
    "code": code,
    "strong": lambda text: _marked("**", text),
    "em": lambda text: _marked("*", text),
    "item": lambda _: "\n- ",
}


def _marked(mark: str, text: str) -> str:
    """Return text between two marks; spaces at its ends, where a mark would mark nothing, are outside."""
    inner = text.strip(" ")
    return text.replace(inner, f"{mark}{literal(inner)}{mark}") if inner else text


def words(prose: Prose) -> str:
    """Return spans as text of a terminal: code in backticks, list items in lines of their own."""
    return CONTROL.sub("�", "".join(WORDS.get(span.kind, "{0.text}").format(span) for span in prose)).removeprefix("\n")


WORDS: Mapping[Kind, str] = {"code": "`{0.text}`", "item": "\n- ", "link": "{0.text} ({0.url})"}


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
        if match["url"]:
            found.append(TextSpan(re.sub(r"\\(.)", r"\1", match["label"]), "link", match["url"]))
        elif match["code"]:
            found.append(TextSpan(match["code"].strip() if len(match["ticks"]) > 1 else match["code"], "code"))
        else:
            mark: Kind = "strong" if match["strong"] else "em"
            style = "" if style == mark else mark
    found.append(TextSpan(text + line[end:], style))
    return [span for span in found if span.text]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; its tone is `ok`, `note`, `warn`, `bad`, `quiet` or empty.

    A text that is quiet or has no tone can have a help: Markdown behind its question mark.
    """

    macro: ClassVar[str] = "text"

    prose: Prose
    tone: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a page, and the explanation behind its question mark; empty for none."""

    prose: Prose
    help: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a part of a page, in plain text, and the explanation behind its question mark."""

    macro: ClassVar[str] = "heading"

    text: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table: its name, the value of a row, and the value as text.

    An `optional` column is left out if no row has a value. `width` is in pixels, None for the natural width. A `bar`
    draws a fraction from 0 to 1. In a `marked` column, cells with `UNLIKE` are tinted.
    """

    name: str
    value: Callable[[Row], Any]
    unit: Callable[[Any], str] = str
    help: str = ""
    width: int | None = None
    optional: bool = False
    bar: bool = False
    marked: bool = False

    @property
    def is_number(self) -> bool:
        """True if the values are numbers."""
        return self.unit is not str

    def text(self, row: Row) -> str:
        """Return the value of a row as text; empty for no value."""
        value = self.value(row)
        return "" if value is None else self.unit(value)


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Rows in columns, under a name. With `pick`, which says how, a row can be selected by that name.

    With `link`, which returns the id of a row, a click writes the id to the parameter `parameter` of the URL, by
    default as the selection of the page. A table that `is_short` is low, because other blocks belong beside it.
    Rows become text only where they are shown, so that a long table costs what its window costs.
    """

    macro: ClassVar[str] = "table"

    name: str
    columns: tuple[Column[Row], ...]
    rows: Sequence[Row]
    pick: str = ""
    link: Callable[[Row], str] | None = None
    parameter: str = "select"
    is_short: bool = False

    @property
    def shown(self) -> tuple[Column[Row], ...]:
        """The columns, without optional ones that have no value."""
        return tuple(each for each in self.columns if not each.optional or self._has_value(each))

    def texts(self, rows: Sequence[Row]) -> TextTable:
        """Return some of the rows as text, in the shown columns."""
        columns = self.shown
        cells = tuple(tuple(column.text(row) for column in columns) for row in rows)
        numeric = frozenset(column.name for column in columns if column.is_number)
        return TextTable(tuple(column.name for column in columns), cells, numeric)

    def _has_value(self, column: Column[Row]) -> bool:
        return any(column.value(row) not in (None, "") for row in self.rows)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table as text, with one header row; `numeric` are the columns that are aligned to the right."""

    macro: ClassVar[str] = "table"

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Search:
    """A field for a text that selects rows of the next table, by the name of the pick."""

    name: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Data:
    """Data of the page to download under a name: as JSON, or as the text that a function returns."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of the dashboard to a page by its name; `picks` are selected there.

    Without a label, the link has the title of the page.
    """

    page: str
    label: str = ""
    picks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Select:
    """A field that selects one of some texts, under a name; the first is selected at first.

    With a `placeholder`, which the empty field shows, none is selected at first. The selection is in the URL if
    `in_url`.
    """

    name: str
    label: str
    options: tuple[str, ...]
    placeholder: str = ""
    in_url: bool = False


@dataclass(frozen=True, slots=True)
class Lazy:
    """Blocks that are made when they are read: the dashboard does not make those that it does not show."""

    make: Callable[[], Iterable[Block]]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.make())


@dataclass(frozen=True, slots=True)
class Drawn:
    """A part that the dashboard draws by hand, by its name; all other outputs have its blocks instead.

    `of` are the arguments of the function that draws it.
    """

    name: str
    blocks: Iterable[Block] = ()
    of: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """Blocks with a border around them, under a name."""

    macro: ClassVar[str] = "card"

    name: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class InLine:
    """Fields and buttons in one line."""

    blocks: tuple[PageBlock, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Two columns of blocks; `shares` are their shares of the width."""

    left: tuple[PageBlock, ...]
    right: tuple[PageBlock, ...]
    shares: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Pane:
    """A part of a page under a name and a title; `blocks` makes its blocks."""

    name: str
    title: str
    blocks: Callable[[], Iterable[PageBlock]]


@dataclass(frozen=True, slots=True)
class Panes:
    """Parts of a page: the dashboard shows the selected one, all other outputs show all.

    The others have each below its title. The selection is in the URL. `beside` are fields and buttons in its line.
    With `is_list`, the dashboard has a list of the titles instead of a row; a single pane has none.
    """

    name: str
    label: str
    panes: tuple[Pane, ...]
    beside: tuple[PageBlock, ...] = ()
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Picks:
    """Selections of a visitor on a page: row by the name of its table, and texts of search fields."""

    rows: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def row(self, name: str, rows: Sequence[Row]) -> Row | None:
        """Return the selected row of a table; None without a selection, or if the table has fewer rows now."""
        index = self.rows.get(name)
        return rows[index] if index is not None and index < len(rows) else None

    def text(self, name: str) -> str:
        """Return the text of a search field; empty without one."""
        return self.texts.get(name, "")


NOTHING_PICKED = Picks()


@dataclass(frozen=True, slots=True)
class Listing:
    """Code that unfolds; `kernel` is the kernel's id in the graphs (`k:…`), `colour` the kernel's colour."""

    macro: ClassVar[str] = "listing"

    title: str
    code: Code
    kernel: str = ""
    colour: str = ""
    detail: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A placeholder of an interactive graph; `HtmlPage.drawings` has its data under the same id."""

    macro: ClassVar[str] = "drawing"

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart; its length `share` and its interval `low` to `high` are fractions of the width."""

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
    """An interval with its middle and samples, as fractions of the axis, and whether it supports a claim."""

    label: str
    text: str
    low: float
    middle: float
    high: float
    claim: bool
    samples: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals on one axis, with values as text; a line crosses them at `mark`, a fraction of the axis.

    `ticks` are fractions of the axis and their labels.
    """

    macro: ClassVar[str] = "intervals"

    label: str
    mark: float
    rows: tuple[IntervalRow, ...]
    ticks: tuple[tuple[float, str], ...] = ()


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
    """Blocks that unfold below a title."""

    macro: ClassVar[str] = "fold"

    title: Prose
    blocks: tuple[Block, ...]
    is_open: bool = False


# Blocks of pages, and blocks that all outputs but the dashboard have.
Field = Search | Select | Data | PageLink
PageBlock = Title | Text | Heading | Table[Any] | Listing | Fold | Card | Field | Drawn | InLine | Beside | Panes
Blocks = tuple[PageBlock, ...]
Block = PageBlock | TextTable | Drawing | Bars | Intervals | Curves


Parts = Mapping[str, Callable[..., Iterable[Block]]]
NO_PARTS: Parts = {}


def flat(blocks: Iterable[Block], parts: Parts = NO_PARTS) -> Iterator[Block]:
    """Yield blocks in reading order, with those inside columns, lines, panes and parts drawn by hand.

    `parts` makes the blocks of such a part, by its name, if they are not the part's own.
    """
    for block in blocks:
        match block:
            case Beside():
                yield from flat((*block.left, *block.right), parts)
            case Drawn() if block.name in parts:
                yield from flat(parts[block.name](*block.of), parts)
            case InLine() | Drawn():
                yield from flat(block.blocks, parts)
            case Panes():
                yield from flat(block.beside, parts)
                for pane in block.panes:
                    heading = [Heading(capital(pane.title))] if len(block.panes) > 1 else []
                    yield from flat((*heading, *pane.blocks()), parts)
            case _:
                yield block


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def paragraph(text: str, tone: str = "") -> Iterator[Text]:
    """Yield a paragraph of Markdown unless it is empty."""
    if text:
        yield Text(spans(text), tone)


def folded(title: str, blocks: Sequence[Block], is_open: bool = False) -> Iterator[Fold]:
    """Yield blocks below a title, unless there are none."""
    if blocks:
        yield Fold(spans(title), tuple(blocks), is_open)
