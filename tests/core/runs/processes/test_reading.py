"""Files of visitors are read in a process with limits, one at a time a visitor, and the time counts for the hour."""

import gzip
import io
import threading
from pathlib import Path

import pytest

from core import AccessError, Limits, Runner, Store, StoreError
from core.runs.inputs import checked_logs
from core.runs.processes import reading
from core.runs.processes.reading import (
    READ_LIMITS,
    ReadingTurns,
    ReadLimits,
    read_logs_apart,
    read_profile_apart,
    stored_profile,
)
from core.runs.stored import open_profile, open_report, profile_path
from core.trace.profile import MOST_DAMAGED, read_profile
from tests.support.engines import PromptEngine
from tests.support.homes import add_run
from tests.support.places import TRACES
from tests.support.profiles import LOG, PROFILE
from tests.support.sample import one_in

MB = 1024**2
HEAD = b'{"traceEvents":['


def bomb(folder: Path, event: bytes, megabytes: int) -> Path:
    """Write a compressed profile of very many equal events."""
    path = folder / "bomb.json.gz"
    with gzip.open(path, "wb", 6) as file:
        file.write(HEAD)
        for _ in range(megabytes):
            file.write(event * (MB // len(event)))
        file.write(b"{}]}")
    return path


def test_a_profile_that_is_read_apart_is_the_same(tmp_path: Path) -> None:
    read_profile_apart(PROFILE, tmp_path / "slices.json", READ_LIMITS)
    assert stored_profile(tmp_path / "slices.json") == read_profile(PROFILE)


@pytest.mark.promise("logs")
@pytest.mark.parametrize("event", one_in(2, [b"{},", b'{"args":[[[[[[[[]]]]]]]]},']))
def test_a_profile_that_takes_too_long_ends_at_the_limit_and_stores_nothing(tmp_path: Path, event: bytes) -> None:
    """A profile is read in a low-priority process that ends at its CPU time limit and stores nothing."""
    path = bomb(tmp_path, event, 64)
    assert path.stat().st_size < MB
    with pytest.raises(StoreError, match="the file cannot be read within 1 s and 1.07 GB of memory"):
        read_profile_apart(path, tmp_path / "slices.json", ReadLimits(1, 1024 * MB))
    assert not (tmp_path / "slices.json").exists()


@pytest.mark.promise("logs")
def test_a_profile_that_takes_too_much_memory_is_refused(tmp_path: Path) -> None:
    """A profile that needs more memory than the limit is refused."""
    with pytest.raises(StoreError, match="the file cannot be read within"):
        read_profile_apart(bomb(tmp_path, b"{},", 8), tmp_path / "slices.json", ReadLimits(60, 8 * MB))


@pytest.mark.promise("logs")
def test_damaged_events_are_read_up_to_a_bound(tmp_path: Path) -> None:
    """The number of damaged events that are read in a profile is bounded."""
    profile = read_profile(bomb(tmp_path, b'{"a"},', 4))
    assert (profile.events, profile.problems["an event that is not JSON, or no object"]) == (0, MOST_DAMAGED)
    assert profile.problems["the rest of the file, which could not be split into events"] == 1


@pytest.mark.promise("logs")
def test_no_more_is_unpacked_than_may_be_uploaded(tmp_path: Path) -> None:
    """No more bytes are unpacked than may be uploaded."""
    event = b'{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":1,"tid":1},'
    profile = read_profile(bomb(tmp_path, event, 6), 4 * MB)
    assert profile.events == (4 * MB - len(HEAD)) // len(event)
    assert profile.problems["the file after its first 4.19 MB"] == 1


def test_logs_that_are_read_apart_are_the_same(tmp_path: Path) -> None:
    log = next(TRACES.rglob("*.log"))
    arguments = (log, tmp_path, "a log", 64 * MB)
    assert read_logs_apart(READ_LIMITS)(*arguments) == checked_logs(*arguments)
    (tmp_path / "text.log").write_text("no record\n")
    with pytest.raises(StoreError, match="record"):
        read_logs_apart(READ_LIMITS)(tmp_path / "text.log", tmp_path, "text", MB)


@pytest.mark.promise("logs")
def test_a_profile_counts_for_the_hour_of_its_visitor(tmp_path: Path) -> None:
    """The time to read a profile counts towards the visitor's hourly limit."""
    limits = Limits(seconds_an_hour=0.01)
    runner = Runner(Store(tmp_path), PromptEngine(), limits=limits)
    run = add_run(tmp_path, "x", gzip.decompress(LOG.read_bytes()))
    with pytest.raises(StoreError, match="no profile"):
        runner.add_profile(run, io.BytesIO(b"{}"), "ann")
    with pytest.raises(AccessError, match="Try again"):
        runner.add_profile(run, io.BytesIO(PROFILE.read_bytes()), "ann")
    assert not profile_path(run).exists()
    runner.add_profile(run, io.BytesIO(PROFILE.read_bytes()), "bob")
    runner.add_profile(run, io.BytesIO(PROFILE.read_bytes()))


def test_a_stored_profile_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(Store(tmp_path), PromptEngine())
    run = add_run(tmp_path, "x", gzip.decompress(LOG.read_bytes()))
    runner.add_profile(run, io.BytesIO(PROFILE.read_bytes()))
    monkeypatch.setattr(reading, "own_process", lambda *_: ("false",))
    joined = open_profile(run, open_report(run))
    assert joined is not None
    run.report_path.with_suffix(".profile.json").unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        open_profile(run, open_report(run))


@pytest.mark.promise("logs")
def test_a_visitor_reads_one_file_at_a_time_and_the_owner_never_waits() -> None:
    """A visitor's files are read one at a time, those of all visitors two at a time; the owner never waits."""
    turns, entered = ReadingTurns(), threading.Event()

    def again() -> None:
        with turns.turn("ann"):
            entered.set()

    with turns.turn("ann"):
        thread = threading.Thread(target=again)
        thread.start()
        with turns.turn("bob"), turns.turn(""), turns.turn(""):
            assert not entered.is_set()
    thread.join()
    assert (entered.is_set(), turns._own) == (True, {})
