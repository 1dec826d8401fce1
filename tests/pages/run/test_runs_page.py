"""Runs page: searched, page by page, tagged and pinned, and one model over time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import Store
from core.runs.comments import tags_of
from core.runs.index.query import RunQuery
from core.views import runs as run_views
from pages import menu
from pages.parts.run import runs_table
from pages.session import runs as session_runs
from pages.session import server, url
from tests.support.apps import assert_sound, opened
from tests.support.homes import add_run, add_scenario, measured_log
from tests.support.screen import written

ROWS = "small_gpt", "mlp", "mlp"


@pytest.fixture
def store(empty_home: Path) -> Store:
    for title in ROWS:
        add_run(empty_home, title, b"", state="failed" if title == "small_gpt" else "done")
    return Store(empty_home)


def shown(**parameters: Any) -> list[str]:
    """Return the names in the table."""
    app = opened(menu.RUNS.script, **parameters)
    assert_sound(app)
    return list(app.dataframe[0].value["run"]) if len(app.dataframe) else []


def test_the_url_says_what_is_searched(store: Store) -> None:
    assert shown() == ["mlp", "mlp", "small_gpt"]
    assert shown(filter="model:gpt") == ["small_gpt"]
    assert shown(filter="mlp -is:failed since:2020-01-01") == ["mlp", "mlp"]
    assert shown(filter="nothing") == []


def test_a_term_that_is_no_filter_is_said(store: Store) -> None:
    app = opened(menu.RUNS.script, filter="colour:red")
    assert_sound(app)
    assert app.caption[0].value.startswith("`colour:` is no filter, and is searched as a word; filters are model, ")
    assert "No run matches" in [text.value for text in app.markdown]


def test_many_runs_are_shown_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_views, "PAGE_RUNS", 2)
    assert shown() == ["mlp", "mlp"]
    assert shown(list_page="2") == ["small_gpt"]
    app = opened(menu.RUNS.script, list_page="2")
    assert "3–3 of 3 runs" in [text.value for text in app.markdown]
    assert shown(list_page="2", filter="mlp") == ["mlp", "mlp"]


def test_a_large_store_says_how_far_its_index_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.index.database.BATCH", 1)
    monkeypatch.setattr(run_views, "QUICK_S", 0.0)
    view = run_views.RunLists(server.the_runner().index).search("", within_s=0.0)
    assert view.indexing == "Indexing runs, newest first: 1 of 3. Older runs are not listed yet."
    assert (view.words, view.in_memory) == ("1 run", "")


def test_a_picked_run_is_tagged_and_pinned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_table, "opened_or_ticked", lambda table, rows, *_, **__: (None, [rows[0]]))
    run = store.list()[0][0]
    app = opened(menu.RUNS.script)
    app.text_input(key=f"tags-{run.id}").set_value("nightly, slow").run()
    app.toggle(key=f"pin-{run.id}").set_value(True).run()
    assert_sound(app)
    assert (tags_of(run), run.pinned) == (("nightly", "slow"), True)
    index = session_runs.run_lists().index
    assert [entry.id for entry in index.search(RunQuery.of("tag:slow is:pinned"), 10).runs] == [run.id]
    assert "Delete 0 runs" in written(app)


def test_one_model_over_time_is_a_chart_of_comparable_runs(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_runs, "MADE_WITHIN_S", 60.0)
    for compiled_s in (1e-3, 5e-4):
        add_run(empty_home, "block", measured_log(compiled_s), kind="log")
    add_scenario(empty_home, "target_h100")
    assert len(shown()) == 3
    app = opened(menu.RUNS.script, shown_as="time")
    assert_sound(app)
    assert app.selectbox(key=url.MODEL).options == ["block · 2 runs", "training_step · 1 run"]
    (title,) = [text.value for text in app.markdown if text.value.startswith("**")]
    assert title.startswith("**Speedup of `block`: 4.00×")
    app = opened(menu.RUNS.script, shown_as="time", model="training_step", metric="speedup")
    assert_sound(app)
    assert "**Speedup of `training_step` was not recorded**" in [text.value for text in app.markdown]


def test_a_model_that_no_run_has_has_no_chart(store: Store) -> None:
    app = opened(menu.RUNS.script, shown_as="time", filter="nothing")
    assert_sound(app)
    assert app.caption[-1].value == "No run that has ended matches."


def test_a_guest_sees_own_runs_and_those_of_the_owner_alone(store: Store) -> None:
    run = store.list()[0][0]
    run.write_status(replace(run.status(), by="ada"))
    lists = session_runs.run_lists()
    ada, grace = run_views.Viewer("ada"), run_views.Viewer("grace")
    assert len(lists.search("", viewer=ada).runs) == 3
    assert len(lists.search("", viewer=grace).runs) == 2
    assert lists.last_done(("mlp",), grace)["mlp"].id != run.id
    assert run.id not in {listed.id for listed in lists.of_titles(("mlp",), grace)}
