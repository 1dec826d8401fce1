"""Control processes, in a folder that stands for the system's."""

import os
from pathlib import Path

import pytest

from core.runs.processes import handles
from core.runs.processes.handles import (
    KILL,
    MEMBERS,
    MEMORY,
    PROCESSES,
    end_groups,
    enter,
    groups_of,
    ran_out_of_memory,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where groups are made."""
    monkeypatch.setattr(handles, "_own_group", lambda: tmp_path)
    return tmp_path


def group(here: Path, *files: str) -> Path:
    folder = here / "compileboard-a-1"
    folder.mkdir()
    for name in files:
        (folder / name).write_text("")
    return folder


def test_a_process_enters_with_the_limits_that_the_system_has(here: Path) -> None:
    folder = group(here, KILL, MEMBERS, PROCESSES)
    enter("a-1", {MEMORY: 2**30, PROCESSES: 100})
    assert (folder / MEMBERS).read_text() == str(os.getpid())
    assert (folder / PROCESSES).read_text() == "100"
    assert not (folder / MEMORY).exists()


def test_a_group_that_could_not_be_ended_is_not_entered(here: Path) -> None:
    folder = group(here, MEMBERS)
    enter("a-1", {})
    assert (folder / MEMBERS).read_text() == ""


@pytest.mark.parametrize(
    ("said", "ran_out"),
    [("low 0\nmax 3\noom 1\noom_kill 1\n", True), ("low 0\noom_kill 0\n", False), ("", False), (None, False)],
)
def test_a_group_says_whether_memory_ran_out(here: Path, said: str | None, ran_out: bool) -> None:
    folder = group(here)
    if said is not None:
        (folder / "memory.events").write_text(said)
    assert ran_out_of_memory("a-1") is ran_out


def test_a_group_is_ended_without_another_whose_name_begins_alike(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "MAX_END_S", 0.02)
    folder = group(here, KILL)
    (here / "compileboard-a-12").mkdir()
    end_groups("a-1")
    assert (folder / KILL).read_text() == "1"
    assert list((here / "compileboard-a-12").iterdir()) == []


def test_groups_are_ended_by_the_mark_of_their_fork_server(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "MAX_END_S", 0.02)
    (here / "compileboard-b-1").mkdir()
    folder = group(here, KILL)
    (folder / "inner").mkdir()
    end_groups(groups_of("a"))
    assert (folder / KILL).read_text() == "1"
    assert not (folder / "inner").exists()
    assert (here / "compileboard-b-1").exists()


def test_without_groups_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "_own_group", lambda: None)
    enter("a-1", {MEMORY: 1})
    end_groups("a-1")
    assert not ran_out_of_memory("a-1")
