"""The index of runs: it says what the directories say, whatever happens to them, to its file, or beside it."""

import math
import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from core import CompileJob, CompileOptions, Model, Run, Store, open_summary
from core.runs.comments import set_pinned, set_tags
from core.runs.index import database as index_file
from core.runs.index.database import IndexProgress, RunIndex
from core.runs.index.entry import IndexedRun
from core.runs.index.query import RunQuery, Viewer
from tests.support.homes import add_run, add_scenario, keeper
from tests.support.places import ROOT

OLD_S = time.time() - 1_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def settled(run: Run) -> Run:
    """Let the run be one that nobody has changed for a while."""
    for directory in (run.path, run.trace_dir):
        os.utime(directory, (OLD_S, OLD_S))
    return run


def add(store: Store, title: str, **fields: Any) -> Run:
    return settled(add_run(store.home, title, b"", **fields))


def ids(index: RunIndex, text: str = "", **where: Any) -> list[str]:
    index.refresh()
    return [entry.id for entry in index.search(RunQuery.of(text, **where), 1_000).runs]


def titles(index: RunIndex, text: str = "") -> list[str]:
    index.refresh()
    return [entry.title for entry in index.search(RunQuery.of(text), 1_000).runs]


def test_every_run_is_listed_newest_first_with_its_status_and_job(store: Store) -> None:
    first, second = add(store, "first", peak_memory_bytes=5), add(store, "second", state="failed", by="ada")
    index = RunIndex(store)
    assert index.refresh() == IndexProgress(2, 2)
    page = index.search(RunQuery(), 10)
    assert [entry.id for entry in page.runs] == [second.id, first.id]
    assert page.total == 2
    assert [entry.status for entry in page.runs] == [second.status(), first.status()]


def test_an_entry_holds_what_a_list_shows(store: Store) -> None:
    run = store.open(add_scenario(store.home, "target_h100"))
    summary = open_summary(run)
    store.rename(run, "a name")
    store.annotate(run, "a note")
    set_tags(run, ["b", "a"])
    set_pinned(run, True)
    settled(run)
    RunIndex(store).refresh()
    (entry,) = RunIndex(store).search(RunQuery(), 10).runs
    assert entry == IndexedRun(
        run.id,
        run.status(),
        False,
        entry.stamp,
        "a name",
        "a note",
        ("a", "b"),
        True,
        settings=("for NVIDIA H100", "training"),
        model="training_step model",
        device="cpu",
        target="h100 NVIDIA H100 cuda:sm_90",
        size_bytes=sum(path.lstat().st_size for path in run.path.rglob("*") if path.is_file()),
        summary=summary,
        commented=True,
    )
    assert summary is not None
    assert (summary.torch, entry.stamp > 0) == ("2.13.0+cpu", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["log", "max", "plain"]),
        ("max-autotune", ["max"]),
        ("model:small_gpt", ["max"]),
        ("is:log", ["log"]),
        ("-is:log", ["max", "plain"]),
        ("is:failed", ["plain"]),
        ("author:ada", ["max"]),
        ("author:owner", ["log", "plain"]),
        ("device:cuda", ["max"]),
        ("tag:nightly", ["plain"]),
        ("memory:>=7", ["max"]),
        ("memory:<7", []),
        ("breaks:0", []),
        ("sort:-memory", ["max", "log", "plain"]),
        ("since:1d", []),
        ("before:1d", ["log", "max", "plain"]),
    ],
)
def test_a_search_names_the_runs_that_meet_all_its_terms(store: Store, text: str, expected: list[str]) -> None:
    plain = add(store, "plain", state="failed")
    set_tags(plain, ["nightly"])
    settled(plain)
    job = CompileJob(Model("sample", "small_gpt"), compile=CompileOptions(mode="max-autotune"), device="cuda")
    tuned = store.create(job, by="ada")
    tuned.write_status(replace(plain.status(), state="done", title="max", by="ada", peak_memory_bytes=7))
    tuned.write_status(replace(tuned.status(), created_s=plain.status().created_s + 1))
    log = add(store, "log", kind="log")
    (log.trace_dir / "trace.log").write_bytes(b"x")
    log.write_status(replace(log.status(), created_s=plain.status().created_s + 2))
    assert titles(RunIndex(store), text) == expected


def test_pages_hold_all_runs_once(store: Store) -> None:
    runs = [add(store, f"run_{number}") for number in range(7)]
    index = RunIndex(store)
    index.refresh()
    pages = [index.search(RunQuery(), 3, offset) for offset in (0, 3, 6, 9)]
    assert [[entry.id for entry in page.runs] for page in pages] == [
        [run.id for run in runs[:3:-1]],
        [run.id for run in runs[3:0:-1]],
        [runs[0].id],
        [],
    ]
    assert {page.total for page in pages} == {7}


def test_runs_of_other_visitors_are_not_listed(store: Store) -> None:
    for by in ("", "ada", "grace"):
        add(store, by or "owner", by=by)
    index = RunIndex(store)
    index.refresh()
    page = index.search(RunQuery().visible(Viewer("ada")), 10)
    assert [entry.status.by for entry in page.runs] == ["ada", ""]
    assert page.total == 2


ADA = "ada@example.org"
RUNS = {"owner": ("", ""), "person": (ADA, ""), "guest": ("digest", "")} | {
    f"{author}_{audience}": (by, audience)
    for audience in ("private", "link", "all")
    for author, by in (("owner", ""), ("person", ADA), ("guest", "digest"))
}
FOR_ALL = {"owner_all", "person_all", "guest_all"}


@pytest.mark.promise("people")
@pytest.mark.parametrize(
    ("viewer", "expected"),
    [
        (None, set(RUNS)),
        (Viewer(), FOR_ALL | {"owner", "person"}),
        (Viewer(of_guests=True), FOR_ALL | {"owner", "person", "guest"}),
        (Viewer("digest"), FOR_ALL | {"owner", "person", "guest", "guest_private", "guest_link"}),
        (Viewer(ADA), FOR_ALL | {"owner", "person", "person_private", "person_link"}),
        (Viewer(ADA, own_only=True), {"person", "person_private", "person_link", "person_all"}),
        (Viewer(own_only=True), set()),
    ],
)
def test_an_audience_decides_in_whose_lists_a_run_is(store: Store, viewer: Viewer | None, expected: set[str]) -> None:
    """Lists contain only runs that their author's audience allows."""
    for title, (by, audience) in RUNS.items():
        run = add(store, title, by=by)
        if audience:
            store.set_audience(run, audience)
    index = RunIndex(store)
    index.refresh()
    assert {entry.status.title for entry in index.search(RunQuery().visible(viewer), 100).runs} == expected


def test_newest_finished_run_of_a_fingerprint_is_found(store: Store) -> None:
    add(store, "first", fingerprint="abc")
    newest = add(store, "newest", fingerprint="abc")
    add(store, "failed", fingerprint="abc", state="failed")
    add(store, "other", fingerprint="other")
    index = RunIndex(store)
    assert index.find("abc") == newest
    assert index.find("none") is None


def test_what_changes_in_the_store_is_listed_at_once(store: Store) -> None:
    index = RunIndex(store)
    run = add(store, "run")
    assert titles(index) == ["run"]
    store.rename(run, "renamed")
    assert titles(index) == ["renamed"]
    second = add(store, "second")
    assert titles(index) == ["second", "renamed"]
    store.delete(run)
    assert ids(index) == [second.id]


def test_a_run_that_another_process_changed_is_searched_as_it_is_now(store: Store) -> None:
    run, index = add(store, "run"), RunIndex(store)
    assert ids(index, "is:failed") == []
    run.write_status(replace(run.status(), state="failed"))
    index.refresh()
    time.sleep(index_file.LOOK_S)
    assert ids(index, "is:failed") == [run.id]


def test_changes_of_old_runs_are_seen_after_some_listings(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "LOOKED_AT", 2)
    monkeypatch.setattr(index_file, "LOOK_S", -1.0)
    runs, index = [add(store, f"run_{number}") for number in range(7)], RunIndex(store)
    index.refresh()
    store.annotate(runs[0], "needle")
    assert [ids(index, "needle") for _ in range(4)][-1] == [runs[0].id]


def test_a_live_run_is_read_again_at_each_listing(store: Store) -> None:
    run, index = add(store, "run", state="running", **keeper()), RunIndex(store)
    assert ids(index, "is:live") == [run.id]
    stamp = run.path.stat().st_mtime_ns
    run.write_status(replace(run.status(), state="done", handle=""))
    os.utime(run.path, ns=(stamp, stamp))
    assert (ids(index, "is:live"), ids(index, "is:done")) == ([], [run.id])


def test_a_run_without_a_live_owner_is_interrupted_and_read_again(store: Store) -> None:
    run, index = add(store, "run", state="running", handle="local:1:1"), RunIndex(store)
    assert ids(index, "is:interrupted") == [run.id]
    stamp = run.path.stat().st_mtime_ns
    run.write_status(replace(run.written_status(), state="failed", handle=""))
    os.utime(run.path, ns=(stamp, stamp))
    assert ids(index, "is:failed") == [run.id]


def test_a_large_store_is_indexed_in_steps_newest_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "BATCH", 2)
    runs, index = [add(store, f"run_{number}") for number in range(5)], RunIndex(store)
    steps = [index.refresh(within_s=0) for _ in range(3)]
    assert steps == [IndexProgress(2, 5), IndexProgress(4, 5), IndexProgress(5, 5)]
    assert [step.complete for step in steps] == [False, False, True]
    second = RunIndex(store)
    assert second.refresh(within_s=0) == IndexProgress(5, 5)
    assert [entry.id for entry in second.search(RunQuery(), 10).runs] == [run.id for run in reversed(runs)]


WRITER = """
import sys
from pathlib import Path
from core import Store
from core.runs.index.database import RunIndex
from core.runs.index.query import RunQuery
store = Store(Path(sys.argv[1]))
index = RunIndex(store)
for number in range(30):
    index.update(run.id for run, _ in store.list()[:20])
    index.refresh()
    index.search(RunQuery.of("run"), 10)
print(index.refresh())
"""


def test_several_processes_write_the_index_at_once(store: Store) -> None:
    for number in range(60):
        add(store, f"run_{number}")
    command = [sys.executable, "-c", WRITER, str(store.home)]
    writers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [writer.communicate(timeout=120)[0] for writer in writers]
    assert outputs == [f"{IndexProgress(60, 60)}\n"] * 3
    assert len(ids(RunIndex(store))) == 60


def test_another_process_that_writes_for_long_does_not_stop_a_listing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_S", 0.05)
    run, index = add(store, "run"), RunIndex(store)
    index.refresh()
    other = sqlite3.connect(index.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.rename(run, "renamed")
    added = add(store, "added")
    assert index.refresh() == IndexProgress(1, 2)
    assert [entry.title for entry in index.search(RunQuery(), 10).runs] == ["renamed"]
    other.execute("ROLLBACK")
    other.close()
    assert ids(index) == [added.id, run.id]


@pytest.mark.parametrize(("kind", "in_memory"), [("ext4", False), ("nfs4", True), ("cifs", True), ("overlay", False)])
def test_the_index_of_a_network_file_system_is_in_memory_and_that_is_reported(
    store: Store, monkeypatch: pytest.MonkeyPatch, kind: str, in_memory: bool
) -> None:
    mounts = [("/", "nfs" if kind == "ext4" else "ext4"), (str(store.home.parent), kind)]
    parts = [SimpleNamespace(mountpoint=place, fstype=name) for place, name in mounts]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: parts)
    run, index = add(store, "run"), RunIndex(store)
    assert ids(index) == [run.id]
    problem = f"{store.home} is on {kind}, where processes share no locks"
    assert index.refresh().problem == (problem if in_memory else "")
    assert index.path.exists() != in_memory


def test_a_store_in_which_no_file_can_be_made_has_an_index_in_memory(store: Store) -> None:
    run = add(store, "run")
    store.index_dir.write_text("no directory")
    index = RunIndex(store)
    assert ids(index) == [run.id]
    assert "File exists" in index.refresh().problem


def test_the_index_is_readable_by_its_owner_alone(store: Store) -> None:
    RunIndex(store).refresh()
    assert store.index_dir.stat().st_mode & 0o777 == 0o700


def test_the_file_of_another_version_stays_until_it_is_old(store: Store) -> None:
    store.index_dir.mkdir()
    fresh, old = (store.index_dir / f"runs-{name}.sqlite3" for name in ("00000000", "11111111"))
    fresh.touch()
    old.touch()
    os.utime(old, (OLD_S - index_file.OLD_S, OLD_S - index_file.OLD_S))
    index = RunIndex(store)
    index.refresh()
    index.close()
    assert set(store.index_dir.iterdir()) == {fresh, index.path}


def test_a_listing_without_a_time_limit_indexes_everything(store: Store) -> None:
    for number in range(250):
        (store.runs_dir / f"20260101-000000-run-{number:04x}").mkdir()
    assert RunIndex(store).refresh(math.inf) == IndexProgress(250, 250)
