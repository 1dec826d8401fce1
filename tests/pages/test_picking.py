"""What a page does with the rows that are picked in its tables."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import Store
from core.views.blocks import Picks
from pages import menu
from pages.parts.run import runs_table
from pages.session import tables
from tests.support.apps import assert_sound, opened, read_words, words
from tests.support.homes import add_run, add_scenario, job_of, keeper, measured_log

Pick = Callable[..., None]


@pytest.fixture
def pick(monkeypatch: pytest.MonkeyPatch) -> Pick:
    """Say which rows of a table are picked, by its key; none of the others. Of several they are ticked, not opened."""
    chosen: dict[str, tuple[int, ...]] = {}

    def ticked(table: object, rows: Sequence[Any], key: str, *_: object, **__: object) -> tuple[Any, list[Any]]:
        st.dataframe(table, hide_index=True)
        return None, tables._those(rows, chosen.get(key, ()))

    def picked(table: object, rows: Sequence[Any], key: str, **_: object) -> Any:
        return next(iter(ticked(table, rows, key)[1]), None)

    def picks() -> Picks:
        return Picks({name: rows[0] for name, rows in chosen.items() if rows}, typed().texts)

    typed = tables.picks
    monkeypatch.setattr(runs_table, "opened_or_ticked", ticked)
    monkeypatch.setattr(tables, "picked", picked)
    monkeypatch.setattr(tables, "picks", picks)
    return lambda key, *rows: chosen.update({key: rows})


def labels(app: AppTest) -> list[str]:
    """The buttons below the table of runs."""
    assert_sound(app)
    return [button.label for button in [*app.button, *app.get("download_button")]]


def test_one_run_can_be_opened_downloaded_and_deleted(empty_home: Path, pick: Pick) -> None:
    add_scenario(empty_home, "eager_backend")
    pick("runs-table", 0)
    app = opened(menu.RUNS.script)
    assert labels(app) == ["Open", "Measure again", "Delete for good", "Log", "Report", "HTML"]
    app.button[2].click().run()
    assert_sound(app)
    assert Store(empty_home).list() == []
    assert "All runs and opened logs." in words(app)


def test_a_run_takes_the_name_that_is_given_to_it(empty_home: Path, pick: Pick) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "target_h100"))
    pick("runs-table", 0)
    app = opened(menu.RUNS.script)
    app.text_input(key=f"name-{run.id}").set_value("  the *small*\tone ").run()
    assert_sound(app)
    assert run.name() == "the *small* one"
    shown = app.run().dataframe[0].value.iloc[0]
    assert (shown["run"], shown["made for"]) == ("the *small* one", "for NVIDIA H100, training")
    assert "the *small* one · for NVIDIA H100 · training · " in app.selectbox(key="run").options[0]
    app.text_input(key=f"name-{run.id}").set_value("").run()
    assert app.run().dataframe[0].value["run"][0] == "training_step"


def test_a_run_keeps_a_note_that_the_filter_finds(empty_home: Path, pick: Pick) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "training_step"))
    add_scenario(empty_home, "transformer_block")
    pick("runs-table", 1)
    app = opened(menu.RUNS.script)
    app.text_input(key=f"note-{run.id}").set_value("before the\nmend").run()
    assert_sound(app)
    assert run.note() == "before the mend"
    found = opened(menu.RUNS.script, filter="the mend").dataframe[0].value
    assert found[["run", "note"]].to_numpy().tolist() == [["training_step", "before the mend"]]


def test_each_run_has_its_verdict_and_no_cell_reads_none(empty_home: Path) -> None:
    for name in ("graph_break_zoo", "eager_backend", "recompile_zoo", "foreign"):
        add_scenario(empty_home, name)
    add_run(empty_home, "measured", measured_log(), job=job_of("transformer_block"))
    app = opened(menu.RUNS.script)
    for _ in range(5):
        # A busy machine makes some of them the next time that the page is drawn.
        app.run()
    assert_sound(app)
    table = app.dataframe[0].value.iloc[::-1]
    assert table[["graphs", "breaks", "recompiles", "kernels"]].fillna(-1).to_numpy().tolist() == [
        [9, 5, 0, 9],
        [1, 0, 0, -1],
        [8, 0, 7, 2],
        [6, 2, 0, 16],
        [1, 0, 0, 6],
    ]
    assert round(table["speedup"].iloc[-1], 2) == 2
    assert b"None" not in app.dataframe[0].proto.arrow_data.styler.display_values


def test_two_runs_that_are_ticked_can_be_compared(empty_home: Path, pick: Pick) -> None:
    older, newer = (add_scenario(empty_home, name) for name in ("training_step", "transformer_block"))
    pick("runs-table", 0, 1)
    app = opened(menu.RUNS.script)
    assert "Compare" in labels(app)
    app.button[0].click().run()
    assert_sound(app)
    assert (app.query_params["run"], app.query_params["other"]) == (older, newer)


def test_of_several_runs_those_that_have_ended_are_deleted(empty_home: Path, pick: Pick) -> None:
    job = job_of("eager_backend")
    states: tuple[dict[str, Any], ...] = ({}, {}, {"state": "running", **keeper()}, {})
    kept, _, going, _ = (add_run(empty_home, "mlp", b"", job=job, **state) for state in states)
    pick("runs-table", 0, 1, 2)
    app = opened(menu.RUNS.script)
    assert labels(app) == ["Delete for good"]
    app.button[0].click().run()
    assert [run for run, _ in Store(empty_home).list()] == [going, kept]


def test_a_damaged_run_says_why_and_has_no_report(empty_home: Path, pick: Pick) -> None:
    run = add_run(empty_home, "broken", b"x", job=job_of("eager_backend"))
    (run.path / "status.json").write_bytes(b"{")
    pick("runs-table", 0)
    app = opened(menu.RUNS.script)
    assert labels(app) == ["Open", "Delete for good", "Log"]
    assert "has no readable status" in app.error[0].value


def test_a_guard_is_read_whole(runs: dict[str, str], pick: Pick) -> None:
    app = opened(menu.GUARDS.script, runs["recompile_zoo"], guard="TYPE_MATCH", compilation="0/0")
    assert "Select a guard to read it in full." in words(app)
    first = app.dataframe[-1].value.iloc[0]
    pick("guard-table", 0)
    told = read_words(app.run())
    assert_sound(app)
    assert f"**TYPE\\_MATCH** on `{first['value']}`: a value keeps its type" in told
    assert app.code[0].value.startswith("___check_type_id(L['extras']")
    assert first["source line"] == "model.py:27 for extra in extras:"
    assert "because of `for extra in extras:` at `" in told
    assert "torch's hint: type list" in told
    assert "Select a guard" not in told


def test_a_guard_that_made_a_recompile_comes_first_and_says_so(runs: dict[str, str], pick: Pick) -> None:
    pick("guard-table", 0)
    app = opened(menu.GUARDS.script, runs["recompile_zoo"], compilation="0/1")
    assert_sound(app)
    assert app.dataframe[-1].value.iloc[0][["kind", "value", "recompiles"]].tolist() == [
        "EQUALS_MATCH",
        "L['power']",
        "[0/2]",
    ]
    assert "It failed, so torch compiled \\[0/2\\] in call 2." in read_words(app)


def test_a_guard_on_no_value_says_so(runs: dict[str, str], pick: Pick) -> None:
    pick("guard-table", 0)
    told = words(opened(menu.GUARDS.script, runs["recompile_zoo"], guard="GLOBAL_STATE"))
    assert "**GLOBAL\\_STATE** on no single value" in told
    assert "because of" not in told
    assert "torch's hint" not in told


def test_a_family_of_guards_is_looked_at_alone(runs: dict[str, str], pick: Pick) -> None:
    app = opened(menu.GUARDS.script, runs["recompile_zoo"], compilation="0/0")
    families = app.dataframe[0].value
    assert list(zip(families["family"], families["guards"], strict=True)) == [
        ("Other", 8),
        ("Tensor", 6),
        ("Module", 2),
        ("Global", 1),
    ]
    pick("families", 2)
    shown = app.run().dataframe[-1].value
    assert_sound(app)
    assert set(shown["value"]) == {"L['self']", "L['self'].mode"}
