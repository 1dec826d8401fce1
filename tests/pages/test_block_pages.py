"""Pages that are blocks: page, HTML file, terminal and JSON have the same content."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from core import as_json
from core.analysis.work import heaviest
from core.commands.report import PAGES, page_blocks
from core.runs.stored import side_of_log
from core.views import printed
from core.views.blocks import (
    Bars,
    Beside,
    Block,
    Card,
    Code,
    Column,
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
    spans,
)
from core.views.compare import CompareView, aspects, comparison, comparison_head
from core.views.html.page import Allowance, HtmlPage, Section
from core.views.html.render import render
from core.views.markdown import WORD_JOINER
from core.views.printed import as_data, as_text
from pages import menu
from tests.record import SCENARIOS
from tests.support.apps import assert_sound, opened
from tests.support.apps import words as words_of
from tests.support.places import TRACES

# Scenarios for which a page has nothing.
WITHOUT = {"guards": ("refused",), "kernels": ("refused", "eager_backend")}
CASES = [(page, scenario) for page in PAGES for scenario in SCENARIOS if scenario not in WITHOUT.get(page, ())]
SCRIPTS = {page.name: page.script for page in menu.PAGES.values()}


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
    parser = Texts()
    parser.feed(render(HtmlPage("page", (), (), (Section("page", "Page", (fold,)),), "")))
    return "".join(parser.all)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


def missing(page: Iterable[Block], text: str) -> list[str]:
    shown = squeezed(text)
    return [piece for piece in pieces(page) if squeezed(piece).rstrip(".") not in shown]


@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_each_output_has_all_content_of_a_page(name: str, scenario: str, runs: dict[str, str]) -> None:
    side = side_of_log(TRACES / scenario / "trace.log")
    compilation = heaviest(side.report)
    assert compilation is not None
    page = [*page_blocks(name, side, compilation)]
    assert missing(page, "\n".join(as_text(page))) == []
    assert missing(page, html_text(page)) == []
    app = opened(SCRIPTS[name], runs[scenario], compilation=compilation.id)
    assert_sound(app)
    text = unescaped("\n".join([words_of(app), *(fold.label for fold in app.expander)]))
    assert missing([block for block in drawn(page) if not isinstance(block, Table)], text) == []
    shown = [columns_of(frame.value) for frame in app.dataframe]
    assert [table.name for table in page_tables(drawn(page)) if table.rows and values_of(table) not in shown] == []
    tables = [block for block in as_data(page) if block["kind"] == "table"]
    assert [len(table["rows"]) for table in tables] == [len(block.rows) for block in page_tables(page)]


@pytest.mark.parametrize(("left", "right"), [("measured", "transformer_block"), ("error", "foreign")])
def test_each_output_has_all_content_of_a_comparison(left: str, right: str, runs: dict[str, str]) -> None:
    compare = CompareView(*(side_of_log(TRACES / name / "trace.log") for name in (left, right)))
    page = [*comparison(compare)]
    assert missing(page, "\n".join(as_text(page))) == []
    assert missing(page, html_text(page)) == []
    for pane in aspects(compare, "0/0").panes:
        app = opened(menu.COMPARE.script, runs[left], other=runs[right], compilation="0/0", aspect=pane.name)
        shown = [block for block in drawn(pane.blocks()) if not isinstance(block, Table)]
        assert missing([*comparison_head(compare), *shown], unescaped(words_of(app))) == []
        frames = [columns_of(frame.value) for frame in app.dataframe]
        assert [table.name for table in page_tables(drawn(pane.blocks())) if values_of(table) not in frames] == []


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


def test_the_comparison_detects_a_renderer_that_drops_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("t", (Column("one", str.upper), Column("two", str.lower)), ["Ab", "Cd"])
    assert missing([table], "\n".join(as_text([table]))) == missing([table], html_text([table])) == []
    first = table.shown[:1]
    everything = [*pieces([table])]
    monkeypatch.setattr(Table, "shown", property(lambda _: first))
    lost = [piece for piece in everything if piece not in "\n".join(as_text([table]))]
    assert lost == ["two", "ab", "cd"]


def test_json_has_values_and_text_has_units() -> None:
    table = Table("sizes", (Column("seconds", float, lambda value: f"{value:.1f} s"),), ["1", "2.5"])
    assert as_data([table]) == [{"kind": "table", "name": "sizes", "columns": ["seconds"], "rows": [[1.0], [2.5]]}]
    assert [line.strip() for line in as_text([table]) if line.strip()][-2:] == ["1.0 s", "2.5 s"]
    assert b"2.5" in as_json(as_data([table]))


def test_a_long_table_is_cut_in_a_terminal_and_its_cells_are_made_for_the_window_alone() -> None:
    made: list[int] = []
    rows = range(100_000)
    table = Table("rows", (Column("row", lambda row: made.append(row) or row, str),), rows)
    lines = [*as_text([table])]
    assert lines[-1] == "… 99,900 rows more"
    assert len(made) == printed.MOST_ROWS


def test_a_list_has_lines_of_its_own_in_a_terminal() -> None:
    assert [*as_text([Text(spans("Two:\n- `one`\n- **two**"))])] == ["Two:", "- `one`", "- two"]


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\u202eb", "\x07"])
def test_text_for_a_terminal_has_no_control_characters(text: str) -> None:
    page = [Text(spans("plain")), Listing("code", Code(text)), Fold(((spans(text)[0],)), (Text(spans(text)),))]
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "\n".join(as_text(page))) is None
