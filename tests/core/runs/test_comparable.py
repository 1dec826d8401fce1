"""Which runs a run can be held against: ended ones of the same model, the newest first."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import Comparable, CompileJob, Model, Run, Store, comparable_runs, job_to_json, likeliest
from core.runs.index.database import RunIndex
from core.views.runs import RunLists
from tests.support.homes import add_run

MLP = CompileJob(Model("sample", "mlp"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def added(store: Store, job: CompileJob | None, title: str = "mlp", kind: str = "run") -> Run:
    run = add_run(store.runs_dir.parent, "mlp", b"", kind=kind)
    run.write_status(replace(run.status(), title=title))
    if job is not None:
        (run.path / "job.json").write_bytes(job_to_json(job))
    return run


def test_a_run_is_held_against_ended_runs_of_its_model(store: Store) -> None:
    shown = added(store, MLP)
    older = added(store, MLP)
    added(store, replace(MLP, model=Model("code", "model = len")))
    added(store, MLP, title="another")
    newer = added(store, replace(MLP, target="h100"))
    foreign = added(store, None, kind="log")
    found = comparable_runs(store.list(), shown, "mlp", MLP)
    assert [item.run.id for item in found] == [foreign.id, newer.id, older.id]
    assert [item.job and item.job.target for item in found] == [None, "h100", ""]


def test_what_was_repaired_comes_first_and_what_repairs_it(store: Store) -> None:
    before = added(store, MLP)
    repaired = replace(MLP, repairs=(("keep_tensor:17",),), repairs_of=before.id)
    after = added(store, repaired, title=repaired.title())
    added(store, repaired, title="of another")
    newest = added(store, MLP)
    listed = store.list()
    assert [item.run.id for item in comparable_runs(listed, before, "mlp", MLP)] == [after.id, newest.id]
    assert [item.run.id for item in comparable_runs(listed, after, repaired.title(), repaired)] == [
        before.id,
        newest.id,
    ]


def test_the_same_file_is_the_same_model_whatever_is_repaired_in_it(store: Store) -> None:
    file = CompileJob(Model("file", "/models/net.py", "net"))
    repaired = replace(file, repairs=(("keep_tensor:17",),))
    one, other = (added(store, job, title=job.title()) for job in (file, repaired))
    assert [item.run.id for item in comparable_runs(store.list(), one, file.title(), file)] == [other.id]


def test_the_first_to_hold_against_is_the_newest_for_another_target(store: Store) -> None:
    runs = [added(store, replace(MLP, target=target)) for target in ("", "h100", "")]
    newest_first = tuple(Comparable(run, run.status(), run.job()) for run in reversed(runs))
    assert likeliest(newest_first, MLP).run.id == runs[1].id
    assert likeliest(newest_first[::2], MLP).run.id == runs[2].id


def test_a_fixed_run_is_compared_with_its_origin_whatever_its_title(store: Store) -> None:
    before = added(store, MLP, title="renamed")
    fixed = replace(MLP, repairs=(("keep_tensor:17",),), repairs_of=before.id)
    after = added(store, fixed, title=fixed.title())
    lists = RunLists(RunIndex(store))
    assert [item.run.id for item in lists.comparable(after, fixed.title(), fixed)] == [before.id]
    assert lists.comparable(before, "renamed", MLP) == ()
