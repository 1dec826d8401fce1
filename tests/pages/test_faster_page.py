"""The page Faster: a search is started there, and ends with the diff of the model's file that ran."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, Environment, Model, Store, Sweep
from core.analysis.repairs.offers import repaired
from core.job.prepared import model_code
from core.sweep.model import cells
from pages import menu
from pages.parts.sweep import sweeps
from pages.session import actions, server
from tests.core.sweep.test_faster import HERE, labels, planned, raced, row
from tests.support.apps import assert_sound, component, opened, titles, words
from tests.support.homes import add_run, job_of, measured_log
from tests.support.sweeps import add_sweep

MLP = CompileJob(Model("sample", "mlp"))
OF_MLP = {**job_of("transformer_block"), "model": {"kind": "sample", "value": "mlp", "name": "model"}}
GAINS = {"freezing": 1.3, "1 thread": 1.2}


@pytest.fixture
def started(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sweep]:
    """The searches that the page would have begun."""
    searches: list[Sweep] = []

    def start(sweep: Sweep) -> Sweep:
        searches.append(sweep)
        return sweep

    monkeypatch.setattr(server, "environment", lambda: HERE)
    monkeypatch.setattr(actions, "start_sweep", start)
    monkeypatch.setattr(sweeps, "show_sweep", lambda *_: None)
    return searches


def test_a_search_is_started_with_its_goal_its_time_and_its_precision(started: list[Sweep], empty_home: Path) -> None:
    run = add_run(empty_home, "measured", measured_log(), job=OF_MLP)
    app = opened(menu.FASTER.script, run.id)
    assert_sound(app)
    assert titles(app) == ["Find settings that make this model faster, and prove them"]
    app.toggle("search-precision").set_value(True).run()
    app.selectbox("search-minutes").set_value(5).run()
    app.button("start-search").click().run()
    assert_sound(app)
    [search] = started
    assert (search.preset, search.budget_s, search.base.model.value) == ("faster", 300.0, "mlp")
    assert "matmuls of fewer bits" in search.pool


def test_a_proven_search_has_the_diff_of_the_file_and_what_did_not_help(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0"))
    run = add_run(empty_home, "measured", measured_log(), job=OF_MLP)
    sweep, _ = raced(planned("faster"), GAINS)
    first = "freezing + 1 thread, pair 1"
    job = next(cell.job for cell in cells(sweep) if cell.at == (first,))
    text = model_code(job)
    stored = add_sweep(empty_home, replace(sweep, budget_s=600.0), [row(label, GAINS) for label in labels(sweep)])
    tried = Store(empty_home).create(job, code=repaired(text, job.repairs), original=text)
    tried.path.replace(empty_home / "runs" / stored.runs[labels(sweep).index(first)])
    app = opened(menu.FASTER.script, run.id)
    assert_sound(app)
    assert titles(app)[0].replace("\\", "").startswith("With freezing and 1 thread, a call is 1.56×")
    shown = str(component(app, "diff-Diff of your file"))
    assert "+model = torch.compile(model, options={'freezing': True})" in shown
    assert "+torch.set_num_threads(1)" in shown
    assert "Its first call takes 1.28 s, and 2.00 s by default" in words(app).replace("\\", "")
    assert list(app.dataframe[0].value.iloc[:, 0]) == ["freezing", "1 thread"]


def test_a_page_without_a_run_says_what_it_is_for(empty_home: Path) -> None:
    app = opened(menu.FASTER.script)
    assert_sound(app)
    assert "This page finds settings that make a model faster." in [header.value for header in app.header]
