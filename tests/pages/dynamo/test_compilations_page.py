"""Compilations: the tree in a table, the one that is shown, and the short list on the overview."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from core.analysis.durations import compile_seconds
from pages import menu
from pages.session import tables, url
from tests.support.apps import assert_sound, opened, read_words, titles
from tests.support.homes import add_run, line
from tests.support.logs import recorded_report
from tests.support.places import TRACES

SECONDS = compile_seconds(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))


def links(app: object) -> list[str]:
    return [item.proto.page for item in app.get("page_link")]  # type: ignore[attr-defined]


def test_numbers_are_bars_up_to_the_largest_of_their_column(runs: dict[str, str]) -> None:
    (table, *_) = opened(menu.COMPILATIONS.script, runs["graph_break_zoo"]).dataframe
    columns = json.loads(table.proto.columns)
    bars = {
        name: (column["type_config"]["min_value"], column["type_config"]["max_value"], column["type_config"]["format"])
        for name, column in columns.items()
        if column.get("type_config", {}).get("type") == "progress"
    }
    most = {name: table.value[name].max() for name in ("ops", "kernels", "breaks", "compile time")}
    assert bars == {name: (0, most[name], "%.3g s" if name == "compile time" else "%d") for name in most}
    assert columns["breaks"]["help"].startswith("Graph breaks that this compilation hit")


def test_the_tree_stands_in_a_table_with_what_belongs_together_below_each_other(runs: dict[str, str]) -> None:
    app = opened(menu.COMPILATIONS.script, runs["graph_break_zoo"])

    assert_sound(app)
    assert titles(app) == ["15 compilations\\: 9 in 5 functions and 6 without a graph"]
    assert "Total: 17 captured ops, 9 kernels, 5 graph breaks, 0 recompiles, " in read_words(app)
    table = app.dataframe[0].value
    assert list(table["function"][:8]) == [
        "model",
        "\u2003↳ after line 46",
        "\u2003↳ after line 47",
        "\u2003↳ after line 48",
        "\u2003↳ after line 49",
        "\u2003look",
        "\u2003\u2003↳ after line 20",
        "\u2003branch",
    ]
    assert list(table.loc[table["id"] == "[1/0]"].fillna(0).iloc[0])[1:7] == [
        "[1/0]",
        "ok",
        2,
        pytest.approx(SECONDS["1/0"], abs=0.001),
        1,
        1,
    ]


def test_the_heaviest_is_shown_and_what_there_is_of_it(runs: dict[str, str]) -> None:
    app = opened(menu.COMPILATIONS.script, runs["recompile_zoo"])

    assert_sound(app)
    assert app.header[0].value == "\\[0/6\\] Zoo\\.forward"
    assert [page for page in links(app) if page in ("fx_graph", "fusion", "kernels", "guards", "recompiles")] == [
        "fx_graph",
        "fusion",
        "kernels",
        "guards",
        "recompiles",
    ]


def test_what_was_not_compiled_says_why(runs: dict[str, str]) -> None:
    app = opened(menu.COMPILATIONS.script, runs["recompile_zoo"], compilation="0/8")

    assert_sound(app)
    assert "the frame is over the recompile limit: calls that fit no compiled code run eagerly" in read_words(app)
    assert "recompile limit" in app.warning[0].value


def test_a_run_with_nothing_compiled_says_so(empty_home: Path) -> None:
    stack = [{"line": 7, "name": "f", "filename": "/m.py", "loc": ""}]
    log = line({"dynamo_start": {"stack": stack}, "frame_id": 0, "frame_compile_id": 0}, "")
    app = opened(menu.COMPILATIONS.script, add_run(empty_home, "log", log, kind="log").id)
    assert_sound(app)
    assert titles(app) == ["1 compilation\\: `f`, without a graph"]


def test_a_picked_row_is_the_compilation_of_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"tree": SimpleNamespace(selection=SimpleNamespace(rows=[1]))}
    monkeypatch.setattr(st, "session_state", held)
    monkeypatch.setattr(st, "dataframe", lambda *_, on_select, **__: on_select())
    tables.compilation_by_row(None, ["0/0", "1/0"], "tree")
    assert held[url.COMPILATION] == "1/0"


def test_the_overview_has_the_five_with_most_ops_and_leads_to_all(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["graph_break_zoo"])

    assert_sound(app)
    table = next(item.value for item in app.dataframe if "post-grad ops" in item.value)
    assert list(table["post-grad ops"]) == [3, 3, 2, 2, 2]
    assert "All 15 compilations" in [item.proto.label for item in app.get("page_link")]


@pytest.mark.parametrize(
    ("scenario", "start"), [("graph_break_zoo", "\\[14/0\\] "), ("transformer_block", "4 generated")]
)
def test_a_title_says_of_which_compilation_it_is_where_there_are_several(
    runs: dict[str, str], scenario: str, start: str
) -> None:
    assert titles(opened(menu.KERNELS.script, runs[scenario]))[0].startswith(start)
