"""Compilations of a run in words and rows."""

from core.views.compilations import CompilationsView
from tests.support.logs import recorded_report
from tests.support.places import TRACES

ZOO = CompilationsView(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))


def test_rows_are_the_tree_and_a_search_finds_names_and_ids() -> None:
    functions = [row["function"] for row in ZOO.rows(ZOO.matches(""))]
    assert functions[:3] == ["model", "\u2003↳ after line 46", "\u2003↳ after line 47"]
    assert [entry.id for _, entry in ZOO.matches("[3/0]")] == ["3/0"]
    assert ZOO.matches("no such function") == ZOO.matches("")


def test_statuses_have_meanings() -> None:
    assert ZOO.meanings(["ok", "ok"]) == "ok: compiled"


def test_details_have_the_place_and_the_meaning_of_the_status() -> None:
    compilation = ZOO.report.compilation("0/0")
    assert compilation is not None
    details = ZOO.details(compilation)
    assert details.heading.startswith("\\[0/0\\] ")
    assert details.place.startswith("`model.py:")
    assert (details.failed, details.has_recompiles) == (False, False)
