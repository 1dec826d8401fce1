"""Logs that are followed while another process writes them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core import GrowingReport, Run, Runner, Status, Store, StoreError, build_report, open_report
from core.runs.engine.following import Follower, follow, start_following, wait_for_end
from core.runs.processes.handles import supervisor_of
from tests.core.runs.test_rank_logs import record
from tests.support import logs
from tests.support.engines import FakeEngine
from tests.support.places import TRACES

LOG = (TRACES / "foreign" / "trace.log").read_bytes()
PATIENCE_S = 60.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "trace").mkdir()
    return tmp_path / "trace"


def follower(store: Store, source: Path, **more: float) -> tuple[Run, Follower]:
    run = store.add_followed(source.name, "", f"Followed: {source}.")
    return run, Follower(source, run.trace_dir, **more)  # type: ignore[arg-type]


def until(condition: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_what_is_appended_is_copied(store: Store, source: Path) -> None:
    run, copies = follower(store, source)
    log = source / "a.log"
    assert (copies.copy(), copies.is_empty) == (False, True)
    for end in (1000, 5000, len(LOG)):
        append(log, LOG[log.stat().st_size if log.exists() else 0 : end])
        assert copies.copy()
        assert not copies.copy()
        assert (run.trace_dir / "opened.log").read_bytes() == LOG[:end]


def test_ranks_that_come_later_are_followed_too(store: Store, source: Path) -> None:
    run, copies = follower(store, source)
    for rank in (3, 0):
        append(source / f"dedicated_log_torch_trace_rank_{rank}_x.log", record(rank))
        assert copies.copy()
        assert run.ranks()[0] == rank
    assert run.ranks() == (0, 3)


def test_an_empty_log_is_followed_once_it_has_a_record(store: Store, source: Path) -> None:
    _, copies = follower(store, source)
    append(source / "a.log", b"")
    assert not copies.copy()
    append(source / "a.log", record(None))
    assert copies.copy()


def test_a_second_log_of_a_rank_and_an_old_one_are_not_followed_but_named(store: Store, source: Path) -> None:
    old = source / "dedicated_log_torch_trace_rank_0_old.log"
    append(old, record(0))
    os.utime(old, (time.time() - 7200,) * 2)
    run, copies = follower(store, source)
    append(source / "dedicated_log_torch_trace_rank_0_new.log", record(0) * 2)
    copies.copy()
    append(source / "dedicated_log_torch_trace_rank_0_third.log", record(0))
    copies.copy()
    assert (run.trace_dir / "rank_0.log").read_bytes() == record(0) * 2
    assert copies.unread == (old.name, "dedicated_log_torch_trace_rank_0_third.log")


def test_a_log_that_shrinks_keeps_what_was_copied(store: Store, source: Path) -> None:
    run, copies = follower(store, source)
    append(source / "a.log", LOG)
    copies.copy()
    (source / "a.log").write_bytes(record(None))
    assert not copies.copy()
    assert (run.trace_dir / "opened.log").read_bytes() == LOG
    assert copies.unread == ("the end of a.log (it was cut off)",)


def test_a_quiet_source_ends(store: Store, source: Path) -> None:
    run, copies = follower(store, source, quiet_s=0.0)
    append(source / "a.log", LOG)
    follow(run, copies, lambda: False)
    status = run.status()
    assert (status.state, status.kind, status.handle) == ("done", "log", "")
    assert status.origin == f"Followed: {source}. Nothing was written to it for 0 s."
    assert open_report(run).compilations == build_report(source / "a.log").compilations


def test_a_log_beyond_the_bound_is_followed_up_to_it(store: Store, source: Path) -> None:
    run, copies = follower(store, source, most_bytes=2000)
    append(source / "a.log", record(None))
    copies.copy()
    append(source / "a.log", LOG)
    follow(run, copies, lambda: False)
    assert "the logs are larger than" in run.status().origin.lower()
    assert run.status().state == "done"


def test_a_source_without_a_record_is_reported_to_have_none(store: Store, source: Path) -> None:
    run, copies = follower(store, source)
    follow(run, copies, lambda: True)
    assert run.standing().state == "interrupted"
    assert run.standing().reason == f"no record was written to {source} while it was followed"


def test_a_followed_run_is_live_until_its_process_ends(store: Store, source: Path) -> None:
    run, process = start_following(store, source)
    try:
        append(source / "a.log", LOG[:5000])
        until(lambda: run.status().state == "running" and run.log_path())
        assert run.standing().live
        with pytest.raises(StoreError, match="still going"):
            store.delete(run)
        append(source / "a.log", LOG[5000:])
        until(lambda: (run.trace_dir / "opened.log").stat().st_size == len(LOG))
    finally:
        process.communicate()
    assert run.status() == Status(
        "done",
        run.status().created_s,
        kind="log",
        started_s=run.status().started_s,
        ended_s=run.status().ended_s,
        title="trace",
        origin=f"Followed: {source}.",
    )


def test_a_run_whose_follower_was_killed_is_readable(store: Store, source: Path) -> None:
    run, process = start_following(store, source)
    append(source / "a.log", LOG)
    until(lambda: run.log_path() and run.log_path().stat().st_size == len(LOG))  # type: ignore[union-attr]
    process.kill()
    wait_for_end(run, process)
    assert run.written_status().ended_s is not None
    assert (run.standing().state, run.standing().live) == ("done", False)
    assert open_report(run).compilations


def test_stop_ends_the_process(store: Store, source: Path) -> None:
    runner = Runner(store, FakeEngine())
    run = runner.follow_path(source)
    append(source / "a.log", LOG)
    until(run.log_path)
    runner.cancel(run)
    until(lambda: not run.status().live)
    assert (run.status().state, supervisor_of(run.status())) == ("done", None)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [("a/b/trace", None, "there is no directory"), ("a.log.gz", b"\x1f\x8b\x08", "is an archive")],
)
def test_what_cannot_be_followed_makes_no_run(
    store: Store, tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(StoreError, match=why):
        start_following(store, tmp_path / name)
    assert store.list() == []


def test_a_log_larger_than_a_growing_one_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trace.reader.MAX_GROWING_BYTES", 1_000_000)
    log = tmp_path / "opened.log"
    large = logs.record({"artifact": {"name": "large", "encoding": "string"}}, "x" * 100_000)
    log.write_bytes(LOG + large * 11 + record(None) * 3)
    assert log.stat().st_size > 1_100_000
    report = GrowingReport(log, rests_s=0.0, appended=True)
    report.look()
    while report.is_behind:
        report.look()
    assert report.look().log_bytes == log.stat().st_size
    before = build_report(TRACES / "foreign" / "trace.log").kinds["dynamo_start"]
    assert (report.look().kinds["artifact:large"], report.look().kinds["dynamo_start"]) == (11, before + 3)


def test_the_report_of_an_appended_log_is_that_of_the_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "opened.log"
    growing = GrowingReport(log, rests_s=0.0, appended=True)
    for start in range(0, len(LOG), 20_000):
        append(log, LOG[start : start + 20_000])
        growing.look()
    assert growing.look() == build_report(log)
