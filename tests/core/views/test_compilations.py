"""Compilations of a run in words and rows."""

from core.views.blocks import PageLink
from core.views.compilations import CompilationsView, meanings
from core.views.printed import as_text
from tests.support.logs import recorded_report
from tests.support.places import TRACES

ZOO = CompilationsView(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))


def test_rows_are_the_tree_and_a_search_finds_names_and_ids() -> None:
    rows = ZOO.matches("")
    function, *_ = ZOO.columns(rows)
    assert [function.value(row) for row in rows[:3]] == ["model", "\u2003↳ after line 46", "\u2003↳ after line 47"]
    assert [entry.id for _, entry in ZOO.matches("[3/0]")] == ["3/0"]
    assert ZOO.matches("no such function") == ZOO.matches("")


def test_statuses_have_meanings() -> None:
    assert meanings(["ok", "ok"]) == "ok: compiled"


def test_details_have_the_place_and_the_meaning_of_the_status() -> None:
    compilation = ZOO.report.compilation("0/0")
    assert compilation is not None
    details = [*ZOO.details(compilation)]
    lines = [line for line in as_text(details) if line]
    assert lines[0].startswith("[0/0] ")
    assert lines[2].startswith("`model.py:")
    assert "graph_breaks" in [block.page for block in details if isinstance(block, PageLink)]
