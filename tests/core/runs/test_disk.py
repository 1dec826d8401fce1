"""A full or read-only disk is told in words before work is lost, and leaves nothing half made. On disks of their own,
where root may mount them.
"""

import contextlib
import io
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, LocalEngine, Model, Run, Runner, Store, StoreError, open_report
from core.base.files import NOBODYS_S, write_atomically
from core.runs.tools.tasks import Assembly, Task, create
from tests.support.homes import add_scenario
from tests.support.places import TRACES

JOB = CompileJob(Model("sample", "mlp"))
LOG = (TRACES / "control_flow" / "trace.log").read_bytes()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk: Path) -> Path:
    """Leave no room, and give back the file that takes it."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    return filler


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


@pytest.mark.promise("files")
def test_a_job_for_which_there_is_no_room_is_refused_in_words_and_leaves_nothing(disk: Path) -> None:
    """On a full disk a job is refused with the reason; no partial files remain."""
    store = Store(disk / "home")
    filler = fill(disk)
    with pytest.raises(StoreError, match="the disk is full .*: delete runs, or make room"):
        store.create(JOB, code="x" * 100_000)
    assert list(store.runs_dir.iterdir()) == []
    filler.unlink()
    assert store.create(JOB).status().state == "queued"


def test_where_so_little_room_is_left_that_a_job_is_started_the_disk_is_reported_full(disk: Path) -> None:
    store = Store(disk / "home")
    filler = fill(disk)
    for pages in range(1, 6):
        with filler.open("r+b") as file:
            file.truncate(filler.stat().st_size - 4096)
        try:
            store.create(JOB, code="x")
        except StoreError as error:
            assert str(error).startswith("the disk is full")
            assert list(store.runs_dir.iterdir()) == []
        else:
            assert pages > 1
            return


def test_a_log_for_which_there_is_no_room_is_refused_in_words_and_leaves_nothing(disk: Path) -> None:
    store = Store(disk / "home")
    with pytest.raises(StoreError, match="the disk is full"):
        store.add_log("large.log", io.BytesIO(LOG * 20))
    assert list(store.runs_dir.iterdir()) == []


def test_the_end_of_a_run_is_written_on_a_full_disk(disk: Path) -> None:
    run = Store(disk / "home").create(JOB)
    fill(disk)
    ended = replace(run.status(), state="failed", reason="the disk is full", handle="")
    run.write_status(ended)
    assert run.status() == ended
    assert sorted(path.name for path in run.path.iterdir()) == ["job.json", "model.py", "status.json", "trace"]


def test_a_report_that_cannot_be_stored_is_shown(disk: Path) -> None:
    run = Store(disk / "home").add_log("log.log", io.BytesIO(LOG))
    whole = open_report(run)
    run.report_path.unlink()
    fill(disk)
    assert open_report(run) == whole
    assert [path.name for path in run.path.iterdir() if "report" in path.name] == []


def test_a_tool_for_which_there_is_no_room_is_refused_in_words_and_leaves_nothing(disk: Path) -> None:
    run = Store(disk / "home").add_log("log.log", io.BytesIO(LOG))
    fill(disk)
    with pytest.raises(StoreError, match="the disk is full"):
        create(run, Task(Assembly("k"), definition="x" * 10_000))
    assert list((run.path / "tools").glob("*")) == []


@pytest.mark.promise("files")
def test_a_read_only_store_opens_its_logs_and_refuses_the_rest_in_words(disk: Path) -> None:
    """A read-only store opens its logs and refuses changes with the reason."""
    run = Store(disk / "home").add_log("log.log", io.BytesIO(LOG))
    make_read_only(disk)
    store = Store(disk / "home")
    assert [found for found, _ in store.list()] == [run]
    assert open_report(run).compilations
    for change in (
        lambda: store.create(JOB),
        lambda: store.add_log("x.log", io.BytesIO(LOG)),
        lambda: store.delete(run),
    ):
        with pytest.raises(StoreError, match="cannot be written .*: set COMPILEBOARD_HOME"):
            change()


def test_a_home_that_cannot_be_made_is_reported_in_words(disk: Path) -> None:
    make_read_only(disk)
    with pytest.raises(StoreError, match="Read-only file system"):
        Store(disk / "home")


@pytest.mark.torch
def test_the_end_of_what_a_run_prints_finds_no_room(disk: Path) -> None:
    from core.worker.record import OutputFile

    output = OutputFile(disk / "output.txt")
    for _ in range(20):
        output.write(b"x" * 65_536)
    output.close()
    assert output.full


@pytest.mark.torch
def test_what_a_run_prints_goes_on_without_room(disk: Path) -> None:
    from core.worker.record import OutputFile

    output = OutputFile(disk / "output.txt")
    fill(disk)
    output.write(b"x" * 500_000)
    output.close()
    assert output.full


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Store(tmp_path).open(add_scenario(tmp_path, "control_flow"))


def test_a_file_in_whose_place_a_directory_stands_leaves_no_other(tmp_path: Path) -> None:
    (tmp_path / "report.json" / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "report.json", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.promise("files")
def test_what_was_cut_short_long_ago_is_swept_when_the_store_is_opened(tmp_path: Path, run: Run) -> None:
    """Files left by interrupted writes are removed when the store is opened."""
    old, fresh = time.time() - NOBODYS_S - 10, time.time()
    made = {
        "20260101-000000-orphan-0000": old,
        "20260101-000000-young-0000": fresh,
        ".20260101-000000-half-0000.0123abcd": old,
        ".20260101-000000-half-0001.0123abcd": fresh,
    }
    for name, when in made.items():
        (tmp_path / "runs" / name).mkdir()
        os.utime(tmp_path / "runs" / name, (when, when))
    for name, when, log in (("20260101-000000-empty-0000", old, b""), ("20260101-000000-grown-0000", old, LOG)):
        trace = tmp_path / "runs" / name / "trace"
        trace.mkdir(parents=True)
        (trace / "a.log").write_bytes(log)
        for path in (trace / "a.log", trace, trace.parent):
            os.utime(path, (when, when))
    left = {".report.json.123.0123abcd": old, ".report.json.124.0123abcd": fresh, ".mine": old}
    for name, when in left.items():
        (run.path / name).touch()
        os.utime(run.path / name, (when, when))
    Store(tmp_path)
    kept = {path.name for path in (tmp_path / "runs").iterdir()} - {run.id}
    assert kept == {name for name, when in made.items() if when == fresh} | {"20260101-000000-grown-0000"}
    assert {path.name for path in run.path.glob(".*")} == {".report.json.124.0123abcd", ".mine"}


def test_a_log_without_a_status_is_never_swept(tmp_path: Path, run: Run) -> None:
    (run.path / "status.json").unlink()
    for path in (run.path, *run.path.rglob("*")):
        os.utime(path, (1.0, 1.0))
    assert [(found, status.state) for found, status in Store(tmp_path).list()] == [(run, "damaged")]


@pytest.mark.torch
def test_a_run_that_meets_a_full_disk_says_so_and_leaves_the_queue(disk: Path, engine: LocalEngine) -> None:
    runner = Runner(Store(disk / "home"), engine)
    code = "model = lambda x: print('x' * 3_000_000) or x\ncalls = lambda: [(1,)]"
    run = runner.wait(runner.submit(CompileJob(Model("code", code), measure=False)))
    assert (run.status().state, run.status().reason[:16]) == ("crashed", "the disk is full")
    (run.trace_dir / next(run.trace_dir.iterdir()).name).unlink()
    run.output_path.unlink()
    after = runner.wait(
        runner.submit(CompileJob(Model("code", "model = lambda x: x\ncalls = lambda: [(1,)]"), measure=False))
    )
    assert after.status().state == "done"
