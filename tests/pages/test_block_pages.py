"""Pages that are blocks: page, HTML file, terminal and JSON have the same content.

That pages in Streamlit have it is asserted where they are opened for their recorded text, in `test_pages.py`.
"""

import re
from collections.abc import Iterable, Iterator
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest

from core import as_json
from core.analysis.work import heaviest
from core.commands.report import PAGES, page_blocks
from core.runs.store import Store
from core.runs.stored import add_profile, side_of_run
from core.views import printed
from core.views.blocks import Block, Card, Code, Column, Fold, Listing, PageLink, Table, Text, Title, flat, spans
from core.views.compare import CompareView, aspects, comparison, comparison_head
from core.views.header import page_contents
from core.views.html.render import FOLDED, as_html
from core.views.overview import OutcomeView
from core.views.printed import as_data, as_text
from core.views.setup import DoctorView, doctor
from core.views.timeline import timeline, timeline_view
from pages import menu
from tests.record import SCENARIOS
from tests.support.apps import EVIDENCE, opened, sound
from tests.support.apps import words as words_of
from tests.support.block_content import (
    SCRIPTS,
    WITHOUT,
    assert_drawn,
    blocks_of,
    columns_of,
    drawn,
    html_text,
    html_words,
    missing,
    page_tables,
    pieces,
    side_of,
    unescaped,
    values_of,
)
from tests.support.homes import add_run, add_scenario
from tests.support.profiles import LOG, PROFILE

# Pages about torch, which are not about the run; its HTML file has none of them.
OF_TORCH = ("glossary", "landmarks")
CASES = [
    (page, scenario)
    for page in PAGES
    for scenario in (SCENARIOS[:2] if page in OF_TORCH else SCENARIOS)
    if scenario not in WITHOUT.get(page, ())
]
MOST_FILE_BYTES = 3_000_000
# Pages that are empty where another page is.
PART_OF = {"kernel": "kernels"}


@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_each_output_has_all_content_of_a_page(name: str, scenario: str) -> None:
    page = blocks_of(name, scenario)
    assert missing(page, "\n".join(as_text(page))) == []
    assert missing(page, html_text(page)) == []
    assert_data(as_data(page), page)


def assert_data(data: list[dict[str, Any]], page: list[Block]) -> None:
    """Assert that JSON has every sentence, line of code, column and row of a page's blocks."""
    sentences = [block for block in flat(page) if not isinstance(block, Table | Fold | Card)]
    assert missing(sentences, "\n".join(strings(data))) == []
    for found, block in zip(tables_of(data), all_tables(page), strict=True):
        assert (found["name"], found["columns"]) == (block.name, [column.name for column in block.shown])
        assert {len(row) for row in found["rows"]} <= {len(block.shown)}
        assert len(found["rows"]) == len(block.rows)


def strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from strings(part)


def tables_of(data: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in data:
        if block["kind"] == "table":
            yield block
        yield from tables_of(block.get("blocks", []))


def all_tables(page: Iterable[Block]) -> Iterator[Table[Any]]:
    for block in flat(page):
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Fold | Card):
            yield from all_tables(block.blocks)


@pytest.mark.parametrize(("name", "scenario"), [case for case in CASES if SCRIPTS[case[0]] not in EVIDENCE])
def test_a_page_for_some_runs_has_all_content_of_its_blocks(name: str, scenario: str, runs: dict[str, str]) -> None:
    assert_drawn(opened(SCRIPTS[name], runs[scenario]), blocks_of(name, scenario))


# Runs whose files take a second of CPU each; another run has most of their sections.
LARGE = {"foreign", "graph_break_zoo", "measured", "target_h100", "training_step"}


@pytest.mark.parametrize(
    "scenario", [pytest.param(name, marks=pytest.mark.long if name in LARGE else ()) for name in SCENARIOS]
)
def test_a_file_has_the_verdict_and_all_content_of_the_pages_of_its_run(scenario: str, empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, scenario))
    side = side_of_run(run)
    compilation = heaviest(side.report)
    assert compilation is not None
    contents = page_contents(side.report, live=False)
    html = as_html(run)
    assert len(html.encode()) < MOST_FILE_BYTES
    text = html_words(html)
    assert missing([Title(spans(OutcomeView(run.status(), side.report, run).title))], text) == []
    names = [name for name in PAGES if name not in OF_TORCH and not contents[PART_OF.get(name, name)].why_empty]
    pages = {name: [*page_blocks(name, side, compilation)] for name in names}
    lost = {name: missing(page, text) for name, page in pages.items() if name not in FOLDED or has_data(page)}
    assert {name: pieces for name, pieces in lost.items() if pieces} == {}


def has_data(page: Iterable[Block]) -> bool:
    return not all(isinstance(block, Title | Text | PageLink) for block in flat(page))


def test_the_file_and_the_page_of_a_profile_have_its_blocks(empty_home: Path) -> None:
    run = add_run(empty_home, "h100", decompress(LOG.read_bytes()), kind="log")
    with PROFILE.open("rb") as file:
        add_profile(run, file)
    report = side_of_run(run).report
    page: list[Block] = [*timeline(report, timeline_view(run, report))]
    assert missing(page, "\n".join(as_text(page))) == missing(page, html_words(as_html(run))) == []
    assert_drawn(opened(menu.TIMELINE.script, run.id), page)


def test_doctor_shows_its_blocks(empty_home: Path) -> None:
    page = [*doctor(DoctorView(empty_home, None).checks, is_starting=True)]
    assert missing(page, "\n".join(as_text(page))) == missing(page, html_text(page)) == []
    lost = missing(page, unescaped(words_of(sound(opened(menu.DOCTOR.script)))))
    # Free bytes change while tests run.
    assert [piece for piece in lost if "free" not in piece and "available" not in piece] == []


@pytest.mark.parametrize(("left", "right"), [("measured", "transformer_block"), ("error", "foreign")])
def test_each_output_has_all_content_of_a_comparison(left: str, right: str, runs: dict[str, str]) -> None:
    compare = CompareView(side_of(left), side_of(right))
    page = [*comparison(compare)]
    assert missing(page, "\n".join(as_text(page))) == []
    assert missing(page, html_text(page)) == []
    for pane in aspects(compare, "0/0").panes:
        app = opened(menu.COMPARE.script, runs[left], other=runs[right], compilation="0/0", aspect=pane.name)
        shown = [block for block in drawn(pane.blocks()) if not isinstance(block, Table)]
        assert missing([*comparison_head(compare), *shown], unescaped(words_of(app))) == []
        frames = [columns_of(frame.value) for frame in app.dataframe]
        assert [table.name for table in page_tables(drawn(pane.blocks())) if values_of(table) not in frames] == []


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

    def cell(row: int) -> int:
        made.append(row)
        return row

    table = Table("rows", (Column("row", cell, str),), range(100_000))
    lines = [*as_text([table])]
    assert lines[-1] == "… 99,900 rows more"
    assert len(made) == printed.MOST_ROWS


def test_a_list_has_lines_of_its_own_in_a_terminal() -> None:
    assert [*as_text([Text(spans("Two:\n- `one`\n- **two**"))])] == ["Two:", "- `one`", "- two"]


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\u202eb", "\x07"])
def test_text_for_a_terminal_has_no_control_characters(text: str) -> None:
    page: list[Block] = [
        Text(spans("plain")),
        Listing("code", Code(text)),
        Fold(((spans(text)[0],)), (Text(spans(text)),)),
    ]
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "\n".join(as_text(page))) is None
