"""The index of runs is made again when its file is damaged, and no bad run breaks a list."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import Run, Store
from core.runs.index.database import RunIndex
from core.runs.index.query import RunQuery
from tests.core.runs.index.test_index import add, ids


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(b"garbage" * 1_000),
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:5_000]),
    "zeros within": lambda path: path.write_bytes(path.read_bytes()[:4_096] + bytes(path.stat().st_size - 4_096)),
    "deleted": lambda path: path.unlink(),
    "another table": lambda path: _replace_table(path),
    "a directory": lambda path: _replace_by_directory(path),
}


def _replace_by_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _replace_table(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (id, other)")
    connection.commit()
    connection.close()


def closed(index: RunIndex) -> Path:
    """Write everything to the file itself, as the last process that closes it does."""
    index.close()
    return index.path


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_made_again(store: Store, damage: str) -> None:
    runs, index = [add(store, f"run_{number}") for number in range(50)], RunIndex(store)
    index.refresh()
    DAMAGES[damage](closed(index))
    expected = [run.id for run in reversed(runs)]
    assert ids(RunIndex(store)) == expected
    assert ids(RunIndex(store), "run_7") == [runs[7].id]


@pytest.mark.parametrize("damage", ["deleted", "garbage"])
def test_an_index_that_is_damaged_while_it_is_open_is_made_again(store: Store, damage: str) -> None:
    runs, index = [add(store, f"run_{number}") for number in range(50)], RunIndex(store)
    index.refresh()
    DAMAGES[damage](index.path)
    for path in store.index_dir.glob("*-wal"):
        path.unlink()
    expected = [run.id for run in reversed(runs)]
    assert ids(RunIndex(store)) == expected
    assert ids(index) == expected


def test_an_entry_that_cannot_be_read_is_read_from_its_directory(store: Store) -> None:
    run, index = add(store, "run"), RunIndex(store)
    index.refresh()
    connection = sqlite3.connect(index.path)
    connection.execute("UPDATE runs SET data = ?", (b'{"id": 5}',))
    connection.commit()
    connection.close()
    assert ids(index) == [run.id]


def garbage_status(run: Run) -> None:
    (run.path / "status.json").write_bytes(b"\x00\xff{[" * 1_000)


def huge_status(run: Run) -> None:
    with (run.path / "status.json").open("wb") as file:
        file.truncate(10 * 1024**3)


def pipe_status(run: Run) -> None:
    (run.path / "status.json").unlink()
    os.mkfifo(run.path / "status.json")


def deep_job(run: Run) -> None:
    (run.path / "job.json").write_bytes(b"[" * 1_000_000)


def huge_directory(run: Run) -> None:
    with (run.path / "core").open("wb") as file:
        file.truncate(10 * 1024**3)


def circular_links(run: Run) -> None:
    (run.path / "graphs").symlink_to(run.path)
    (run.path / "tags.txt").symlink_to("/dev/zero")
    (run.path / "note.txt").symlink_to(run.path / "note.txt")


def file_for_a_run(run: Run) -> None:
    shutil.rmtree(run.path)
    run.path.write_text("no directory")


def no_files(run: Run) -> None:
    shutil.rmtree(run.path)
    run.path.mkdir()


def hostile_title(run: Run) -> None:
    run.write_status(
        replace(run.status(), title="'; DROP TABLE runs; --\0" * 5_000, by="\0" * 9_000, reason="x" * 99_000)
    )


HARMS = {
    harm.__name__: harm
    for harm in (
        *(garbage_status, huge_status, pipe_status, deep_job, huge_directory, circular_links, file_for_a_run, no_files),
        hostile_title,
    )
}


@pytest.mark.promise("people")
@pytest.mark.parametrize("harm", HARMS)
def test_one_bad_run_never_breaks_the_list(store: Store, harm: str) -> None:
    """A damaged or hostile run directory does not break the list of runs."""
    first, bad, last = (add(store, title) for title in ("first", "bad", "last"))
    HARMS[harm](bad)
    index = RunIndex(store)
    assert index.refresh().complete
    page = index.search(RunQuery(), 10)
    assert [entry.id for entry in page.runs if entry.id != bad.id] == [last.id, first.id]
    assert all(len(entry.title) <= 1_000 for entry in page.runs)
    damaged = {run.id for run, status in store.list() if status.state == "damaged"}
    assert {entry.id for entry in page.runs if entry.status.state == "damaged"} == damaged


def test_a_directory_with_too_many_files_has_no_size(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.index.entry.MOST_FILES", 3)
    run = add(store, "run")
    for number in range(5):
        (run.path / f"file_{number}").touch()
    assert RunIndex(store).refresh().complete
    (entry,) = RunIndex(store).search(RunQuery(), 10).runs
    assert entry.size_bytes is None
