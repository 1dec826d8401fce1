"""Runs of several ranks, and followed logs, on the pages."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import Run, Store
from core.trace import reader
from core.trace.parsers import build
from pages import menu
from pages.session import shown
from tests.support.apps import EVIDENCE, assert_sound, chips, homed, opened, titles, words
from tests.support.homes import add_run, keeper
from tests.support.places import TRACES
from tests.support.screen import plain

LOG = (TRACES / "foreign" / "trace.log").read_bytes()
ZOO = (TRACES / "graph_break_zoo" / "trace.log").read_bytes()
PATIENCE_S = 60.0


def ranked(home: Path, *logs: bytes, **status: Any) -> Run:
    """A run with a log for each rank, from rank 0 on."""
    run = add_run(home, "job", None, kind="log", **status)
    for rank, log in enumerate(logs):
        run.log_of(rank).write_bytes(log)
    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with homed(tmp_path_factory.mktemp("home")) as home:
        yield home


@pytest.fixture(scope="module")
def eight(home: Path) -> Run:
    return ranked(home, *[LOG] * 3, ZOO, *[LOG] * 4, origin="Not read: old.log.")


@pytest.fixture(scope="module")
def followed(home: Path) -> Run:
    return ranked(home, LOG, ZOO[: len(ZOO) // 2], state="running", origin="Followed: /tmp/trace.", **keeper())


def test_a_run_of_ranks_opens_at_the_lowest_and_the_header_offers_the_others(eight: Run) -> None:
    app = opened(menu.OVERVIEW.script, eight.id)
    assert_sound(app)
    (label,) = [option for option in app.selectbox(key="run").options if "8 ranks" in option]
    assert label.startswith("job · 8 ranks · ")
    assert app.selectbox(key="rank").options == [f"rank {rank}" for rank in range(8)]
    assert app.selectbox(key="rank").value == 0
    assert "Not read: old.log." in plain(words(app))
    (to_ranks,) = [link.proto for link in app.get("page_link") if link.proto.page == "ranks" and link.proto.icon]
    assert f"run={eight.id}" in to_ranks.query_string


def test_another_rank_is_picked_and_stays_in_the_url(eight: Run) -> None:
    app = opened(menu.OVERVIEW.script, eight.id)
    before = titles(app)
    app.selectbox(key="rank").select(3).run()
    assert_sound(app)
    assert (app.query_params["run"], titles(app) != before) == (f"{eight.id}@3", True)
    assert len([option for option in app.selectbox(key="run").options if "8 ranks" in option]) == 1
    app.selectbox(key="rank").select(0).run()
    assert (app.query_params["run"], titles(app)) == (f"{eight.id}@0", before)


def test_compare_offers_the_other_ranks_first(eight: Run) -> None:
    app = opened(menu.COMPARE.script, f"{eight.id}@3")
    assert_sound(app)
    other = app.selectbox(key="other")
    assert other.options[:7] == [f"rank {rank} of this run" for rank in (0, 1, 2, 4, 5, 6, 7)]
    assert other.value == f"{eight.id}@0"
    assert [option for option in other.options if "8 ranks" in option] == []


def test_runs_lists_a_run_of_ranks_once(eight: Run, followed: Run) -> None:
    app = opened(menu.RUNS.script)
    assert_sound(app)
    rows = app.dataframe[0].value
    assert rows[["run", "state"]].to_numpy().tolist() == [["job · 2 ranks", "running"], ["job · 8 ranks", "done"]]


def test_a_rank_that_is_not_there_is_reported_to_be_missing(eight: Run) -> None:
    app = opened(menu.OVERVIEW.script, f"{eight.id}@99")
    assert_sound(app)
    assert "There is no run" in plain(words(app))


@pytest.mark.parametrize("page", EVIDENCE)
def test_every_page_shows_a_rank_and_a_followed_log(eight: Run, followed: Run, page: str) -> None:
    assert_sound(opened(page, f"{eight.id}@3"))
    assert_sound(opened(page, f"{followed.id}@1"))


def test_a_followed_log_shows_what_is_recorded_and_can_be_stopped(followed: Run) -> None:
    app = opened(menu.OVERVIEW.script, f"{followed.id}@0")
    assert titles(app)[0].endswith("into 6 graphs")
    assert chips(app)[0] == "following …"
    assert "So far: 2 ranks, " in plain(words(app))
    assert app.button(key="cancel").label == "Stop following"


def test_who_joins_a_large_followed_log_late_gets_its_outline(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = add_run(home, "late", LOG, kind="log", state="running", origin="Followed: /tmp/trace.", **keeper())
    for module in (reader, build):
        monkeypatch.setattr(module, "MOST_AT_ONCE_BYTES", len(LOG) // 10)
    monkeypatch.setattr(build, "LONGEST_LOOK_S", 0.0)
    assert titles(opened(menu.OVERVIEW.script, run.id)) == ["Reading the log…"]
    assert shown._outlining(run.id, len(LOG).bit_length()).wait(PATIENCE_S) == 0
    app = opened(menu.OVERVIEW.script, run.id)
    assert_sound(app)
    assert titles(app)[0].startswith("6 graphs in ")
    assert "Reading the log of " in plain(words(app))


def test_a_followed_log_without_a_record_waits(home: Path) -> None:
    run = add_run(home, "waits", None, kind="log", state="running", origin="Followed: /tmp/trace.", **keeper())
    app = opened(menu.OVERVIEW.script, run.id)
    assert_sound(app)
    assert titles(app) == ["No record was written yet"]
    assert "set to the followed directory" in plain(words(app))


def test_a_log_whose_follower_is_gone_is_a_log(home: Path) -> None:
    run = ranked(home, LOG, state="running", handle="local:1@1.00", ended_s=None)
    assert replace(run, rank=0).standing().state == "done"
    assert Store(home).open(run.id).rank == 0
    app = opened(menu.OVERVIEW.script, run.id)
    assert (chips(app)[0], titles(app)[0].endswith("into 6 graphs")) == ("done", True)
