"""The doors to the store: who may set off what, and what is said to who may not."""

import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from core import AccessError, CompileboardError, CompileJob, Model, Run, Store
from core.runs.comments import tags_of
from core.runs.index.database import RunIndex
from core.runs.tools.tasks import Ladder, Passes, Task, create, tool_run
from core.views.kernels import KernelTool
from pages.gate.rules import Visitor
from pages.gate.visitor import ANOTHERS, NOT_YOURS, Who
from pages.session import actions, server
from tests.support.homes import NOT_LOGS, add_run, job_of, keeper

JOB = CompileJob(Model("sample", "mlp"))
LOG = NOT_LOGS["one record"]
OWNER, ANN, ONLOOKER = Who(Visitor.OWNER), Who(Visitor.GUEST, "ann"), Who(Visitor.ONLOOKER)


class Behind:
    """What stands behind the doors: a store, and a note of what came through."""

    def __init__(self, home: Path) -> None:
        self.store = Store(home)
        self.index = RunIndex(self.store)
        self.came: list[tuple[object, ...]] = []

    def submit(self, *what: object) -> None:
        self.came.append(("submit", *what))

    def stop_trials(self, run: Run) -> None:
        self.came.append(("stop_trials", run.id))

    def start_tool(self, *what: object) -> None:
        self.came.append(("start_tool", *what))

    def cancel(self, run: Run) -> None:
        self.came.append(("cancel", run))

    def add_log(self, name: str, file: io.BufferedReader, by: str) -> Run:
        return self.store.add_log(name, file, by)

    def add_path(self, path: Path, by: str) -> Run:
        return self.store.add_path(path, by)


@pytest.fixture
def behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behind:
    found = Behind(tmp_path)
    for name in ("runner", "the_runner"):
        monkeypatch.setattr(server, name, lambda: found)
    return found


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> Callable[[Who], None]:
    return lambda visitor: monkeypatch.setattr(actions, "who", lambda: visitor)


def made(behind: Behind, by: str = "", **fields: Any) -> Run:
    return add_run(behind.store.home, "mlp", LOG, job=job_of("eager_backend"), by=by, **fields)


def test_an_onlooker_gets_through_no_door(behind: Behind, visited: Callable[[Who], None]) -> None:
    run = made(behind)
    visited(ONLOOKER)
    for door in (
        lambda: actions.submit(JOB),
        lambda: actions.start_tool(KernelTool(run, Ladder("k"))),
        lambda: actions.add_log("a.log", io.BytesIO(LOG)),
        lambda: actions.rename(run, "mine"),
        lambda: actions.delete(run),
        lambda: actions.forget(KernelTool(run, Ladder("k"))),
    ):
        with pytest.raises(AccessError) as error:
            door()
        assert str(error.value) == NOT_YOURS
    assert (behind.came, [found for found, _ in behind.store.list()]) == ([], [run])


def test_what_a_guest_sets_off_is_theirs(behind: Behind, visited: Callable[[Who], None]) -> None:
    run = made(behind)
    visited(ANN)
    actions.submit(JOB)
    actions.start_tool(KernelTool(run, Ladder("k")))
    assert behind.came == [("submit", JOB, "ann"), ("start_tool", run, Ladder("k"), "ann")]
    assert actions.add_log("a.log", io.BytesIO(LOG)).status().by == "ann"
    assert actions.add_log("a.log", io.BytesIO(LOG), Who(Visitor.GUEST, "bob")).status().by == "bob"


def test_a_guest_deletes_their_own_runs_alone(behind: Behind, visited: Callable[[Who], None]) -> None:
    mine, bobs = [made(behind, "ann"), made(behind, "ann")], made(behind, "bob")
    visited(ANN)
    assert actions.delete(*mine) == 2
    with pytest.raises(AccessError) as error:
        actions.delete(bobs)
    assert (str(error.value), [run for run, _ in behind.store.list()]) == (ANOTHERS, [bobs])


@pytest.mark.promise("people")
def test_a_guest_deletes_answers_of_their_own_and_to_their_own_runs_alone(
    behind: Behind, visited: Callable[[Who], None]
) -> None:
    """A visitor deletes tool results only if they requested them or made the run."""
    mine, bobs = made(behind, "ann"), made(behind, "bob")
    ladder, passes = Ladder("k"), Passes("k")
    for run, request, by in ((mine, ladder, "bob"), (bobs, ladder, "bob"), (bobs, passes, "ann")):
        create(run, Task(request), by)
        asked = tool_run(run, request)
        asked.write_status(replace(asked.status(), state="done", handle=""))
    visited(ANN)
    actions.forget(KernelTool(mine, ladder))
    actions.forget(KernelTool(bobs, passes))
    with pytest.raises(AccessError) as error:
        actions.forget(KernelTool(bobs, ladder))
    assert str(error.value) == ANOTHERS
    assert [path.name for run in (mine, bobs) for path in (run.path / "tools").iterdir()] == [
        tool_run(bobs, ladder).path.name
    ]


def test_a_guest_names_their_own_runs_alone(behind: Behind, visited: Callable[[Who], None]) -> None:
    mine, bobs = made(behind, "ann"), made(behind, "bob")
    visited(ANN)
    actions.rename(mine, "first")
    with pytest.raises(AccessError, match="another visitor"):
        actions.rename(bobs, "first")
    with pytest.raises(AccessError, match="another visitor"):
        actions.tag(bobs, "first")
    with pytest.raises(AccessError, match="another visitor"):
        actions.pin(bobs, True)
    assert [run.name() for run in (mine, bobs)] == ["first", ""]
    assert (tags_of(bobs), bobs.pinned) == ((), False)


def test_a_damaged_run_is_the_owners_to_delete(behind: Behind, visited: Callable[[Who], None]) -> None:
    run = made(behind, "ann")
    (run.path / "status.json").write_bytes(b"{")
    visited(ANN)
    with pytest.raises(AccessError):
        actions.delete(run)
    visited(OWNER)
    assert (actions.delete(run), behind.store.list()) == (1, [])


def test_who_may_not_cancel_is_told_in_a_corner(
    behind: Behind, visited: Callable[[Who], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "toast", said.append)
    run = made(behind, "bob", state="running", **keeper())
    visited(ANN)
    actions.cancel(run)
    assert (behind.came, len(said)) == ([], 1)
    assert said[0].startswith("This is another visitor")
    visited(OWNER)
    actions.cancel(run)
    assert (behind.came, len(said)) == ([("cancel", run)], 1)


def test_a_log_is_opened_by_its_path(behind: Behind, visited: Callable[[Who], None], tmp_path: Path) -> None:
    log = tmp_path / "mine.log"
    log.write_bytes(LOG)
    visited(OWNER)
    assert actions.add_log_at(log).status().title == "mine.log"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.log", "No such file"),
        ("folder", "holds no .log file"),
        ("pipe", "not a regular file"),
        ("a\0b", "null byte"),
    ],
)
def test_a_path_that_is_no_file_is_not_waited_for(
    behind: Behind, visited: Callable[[Who], None], tmp_path: Path, name: str, why: str
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    visited(OWNER)
    with pytest.raises(CompileboardError, match=why):
        actions.add_log_at(tmp_path / name)
    assert behind.store.list() == []
