"""Sweeps as they are stored: named, deleted with their runs, and read with doubt."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, StoreError, new_sweep
from tests.core.sweep.test_sweep_runner import CODE, FOUR, sweeper
from tests.support.engines import PromptEngine


def test_sweep_is_renamed_and_deleted_with_its_runs_alone(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine())
    other = found.runner.wait(found.runner.submit(CompileJob(CODE)))
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    found.store.rename(sweep.id, "  of\tinterest ")
    assert (found.store.name(sweep.id), sweep.title) == ("of interest", "pasted code:model by backend, batch")
    stored = found.store.open(sweep.id)
    found.store.write(replace(stored, runs=(*stored.runs[:3], other.id)))
    found.store.delete(sweep.id, with_runs=True)
    left = {run.id for run, _ in found.runner.store.list()}
    assert (found.store.list(), left) == ([], {other.id, stored.runs[3]})
    with pytest.raises(StoreError, match="there is no sweep"):
        found.store.open(sweep.id)


@pytest.mark.parametrize("text", ["", "{}", "[1", '{"id": "x"}'])
def test_damaged_sweep_is_reported_and_can_be_deleted(tmp_path: Path, text: str) -> None:
    found = sweeper(tmp_path, PromptEngine())
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    (found.store.sweeps_dir / sweep.id / "sweep.json").write_text(text)
    assert (found.store.list(), list(found.store.damaged())) == ([], [sweep.id])
    found.store.delete(sweep.id)
    assert found.store.damaged() == {}


@pytest.mark.parametrize("damage", ["pipe", "directory", "link", "nowhere", "device"])
def test_a_sweep_with_another_thing_in_the_place_of_its_lock_is_deleted(tmp_path: Path, damage: str) -> None:
    found = sweeper(tmp_path, PromptEngine())
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    lock, other = found.store.sweeps_dir / sweep.id / "lock", tmp_path / "other"
    other.write_text("mine")
    lock.unlink(missing_ok=True)
    if damage == "pipe":
        os.mkfifo(lock)
    elif damage == "directory":
        (lock / "in").mkdir(parents=True)
    else:
        lock.symlink_to({"link": other, "nowhere": tmp_path / "nowhere", "device": Path("/dev/zero")}[damage])
    found.store.delete(sweep.id)
    assert (found.store.list(), found.store.damaged(), other.read_text()) == ([], {}, "mine")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("run", ["../../etc", "x", "20260101-000000-a-0000/.."])
def test_sweep_that_names_no_run_is_not_read(tmp_path: Path, run: str) -> None:
    found = sweeper(tmp_path, PromptEngine())
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    found.store.write(replace(found.store.open(sweep.id), runs=(run,)))
    with pytest.raises(StoreError, match="not what it should be"):
        found.store.open(sweep.id)


def test_sweeps_are_listed_with_the_newest_first(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine())
    for at in (2.0, 3.0, 1.0):
        found.wait(found.start(replace(new_sweep(CompileJob(CODE), FOUR), created_s=at)).id)
    assert [sweep.created_s for sweep in found.store.list()] == [3.0, 2.0, 1.0]
