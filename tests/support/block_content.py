"""Content of a page that is blocks, which each output must have: the terminal, the HTML file, the page."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from streamlit.testing.v1 import AppTest

from core.analysis.comparison.matching import RunSide
from core.analysis.work import heaviest
from core.commands.report import page_blocks
from core.runs.stored import side_of_log
from core.views import printed
from core.views.blocks import (
    Bars,
    Beside,
    Block,
    Card,
    Drawn,
    Fold,
    Heading,
    InLine,
    Listing,
    Panes,
    Table,
    Text,
    Title,
    flat,
)
from core.views.html.page import Allowance, HtmlPage, Section
from core.views.html.render import render
from core.views.markdown import WORD_JOINER
from pages import menu
from tests.support.apps import assert_sound
from tests.support.apps import words as words_of
from tests.support.places import TRACES

# Scenarios for which a page has nothing.
WITHOUT = {"guards": ("refused",), "kernels": ("refused", "eager_backend")}
SCRIPTS = {page.name: page.script for page in menu.PAGES.values()}


@cache
def side_of(scenario: str) -> RunSide:
    """Return a recorded scenario as a run, parsed once."""
    return side_of_log(TRACES / scenario / "trace.log")


def blocks_of(name: str, scenario: str) -> list[Block]:
    """Return the blocks of a page for the compilation of a scenario with most ops."""
    side = side_of(scenario)
    compilation = heaviest(side.report)
    assert compilation is not None
    return [*page_blocks(name, side, compilation)]


def assert_drawn(app: AppTest, page: list[Block]) -> None:
    """Assert that the page in Streamlit has every sentence and every table of its blocks."""
    assert_sound(app)
    text = unescaped("\n".join([words_of(app), *(fold.label for fold in app.expander)]))
    assert missing([block for block in drawn(page) if not isinstance(block, Table)], text) == []
    shown = [columns_of(frame.value) for frame in app.dataframe]
    assert [table.name for table in page_tables(drawn(page)) if table.rows and values_of(table) not in shown] == []


def pieces(page: Iterable[Block]) -> Iterator[str]:
    """Every title, sentence and name of a column of blocks, and the cells and lines of code that a terminal shows."""
    for block in flat(page):
        match block:
            case Title() | Text():
                yield from (span.text for span in block.prose)
            case Heading():
                yield block.text
            case Table():
                for column in block.shown if block.rows else ():
                    yield column.name
                    yield from filter(None, (column.text(row) for row in block.rows[: printed.MOST_ROWS]))
            case Listing():
                lines = block.code.text.splitlines()[: printed.MOST_LINES]
                yield from (line[: printed.MOST_CHARS] for line in lines)
            case Bars():
                yield from (piece for bar in block.rows for piece in (bar.label, bar.text))
            case Fold() | Card():
                yield from pieces(block.blocks)


class Texts(HTMLParser):
    """The text of an HTML file."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def handle_data(self, data: str) -> None:
        self.all.append(data)


def html_text(page: Iterable[Block]) -> str:
    fold = Allowance().folded(page)
    return html_words(render(HtmlPage("page", (), (), (Section("page", "Page", (fold,)),), "")))


def html_words(html: str) -> str:
    """Return all text of an HTML file."""
    parser = Texts()
    parser.feed(html)
    return "".join(parser.all)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


def missing(page: Iterable[Block], text: str) -> list[str]:
    shown = squeezed(text)
    return [piece for piece in pieces(page) if squeezed(piece).rstrip(".") not in shown]


def drawn(page: Iterable[Block]) -> list[Block]:
    """The blocks of a page without those of parts that the page draws by hand."""
    return [each for block in page for each in _drawn(block)]


def _drawn(block: Block) -> list[Block]:
    match block:
        case Beside():
            return drawn((*block.left, *block.right))
        case InLine() | Card():
            return drawn(block.blocks)
        case Drawn():
            return []
        case Panes():
            return drawn((*block.beside, *block.panes[0].blocks()))
        case Fold():
            return [Text(block.title), *drawn(block.blocks)]
        case _:
            return [block]


def page_tables(page: Iterable[Block]) -> list[Table[Any]]:
    return [block for block in flat(page) if isinstance(block, Table)]


def unescaped(text: str) -> str:
    """Markdown as it is read, without escapes and marks, and code as it is."""
    read = re.sub(r"\\([^A-Za-z0-9\s])|\*\*|(?<!\w)\*|\*(?!\w)", r"\1", text.replace(WORD_JOINER, ""))
    return f"{read}\n{text}"


def values_of(table: Table[Any]) -> dict[str, list[object]]:
    """Values of a table by column; fractions that are drawn as bars in percent."""
    return {
        column.name: [rounded(column.value(row), 100 if column.bar else 1) for row in table.rows]
        for column in table.shown
    }


def columns_of(frame: Any) -> dict[str, list[object]]:
    known = frame.astype(object).where(frame.notna(), None)
    return {name: [rounded(value) for value in known[name].tolist()] for name in known}


def rounded(value: object, scale: int = 1) -> object:
    return float(f"{scale * value:.9g}") if isinstance(value, float) else value
