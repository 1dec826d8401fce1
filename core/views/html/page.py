"""The content of an HTML file as one value: titles, blocks of text, tables, code and charts, and the graphs' data.

Each text is a plain string or a span of one, so that a scrubber can change all of them before they become HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.views.html.spans import Code, Prose

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
