"""The log of a run that goes on: each record once, when all of it is there."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from core import GrowingReport, build_report
from core.base.errors import TraceError
from core.report import Report, Setting
from core.trace import reader
from core.trace.parsers import build
from core.trace.reader import GrowingReader, TraceReader, TraceRecord
from tests.support.homes import line, record
from tests.support.places import TRACES

LOG = TRACES / "transformer_block" / "trace.log"


def written(path: Path, data: bytes, ends: Iterable[int]) -> list[TraceRecord]:
    """The records that are found while a log is written up to each of these bytes."""
    path.write_bytes(b"")
    reader, found = GrowingReader(path), list[TraceRecord]()
    for end in ends:
        path.write_bytes(data[:end])
        found += reader.new_records()
    assert not reader.problems
    return found


@pytest.mark.parametrize("step", [997, 20_011, 10**7])
def test_however_a_log_grows_its_records_are_those_of_the_whole(tmp_path: Path, step: int) -> None:
    data = LOG.read_bytes()
    with TraceReader(LOG) as reader:
        whole = list(reader.records())
    ends = [*range(step, len(data), step), len(data)]
    assert written(tmp_path / "trace.log", data, ends) == whole


def test_a_record_is_there_once_its_last_byte_is(tmp_path: Path) -> None:
    first, last = record("compileboard_step", {"name": "one"}), line({"dynamo_start": {}}, "a\nb")
    log = tmp_path / "trace.log"
    log.write_bytes(b"")
    reader = GrowingReader(log)
    seen = []
    for end in range(len(first) + len(last) + 1):
        log.write_bytes((first + last)[:end])
        seen.append(len(list(reader.new_records())))
    assert [end for end, count in enumerate(seen) if count] == [len(first), len(first) + len(last)]


@pytest.mark.promise("runs")
def test_a_log_that_is_truncated_is_read_from_its_start(tmp_path: Path) -> None:
    """A run that truncates its own log affects no other run."""
    log = tmp_path / "trace.log"
    log.write_bytes(record("compileboard_step", {"schema": 1, "name": "one"}) * 2)
    reader = GrowingReader(log)
    assert len(list(reader.new_records())) == 2
    log.write_bytes(record("compileboard_step", {"schema": 1, "name": "other"}))
    with pytest.raises(TraceError, match="was cut off"):
        list(reader.new_records())

    report = GrowingReport(log, rests_s=0.0)
    assert report.look().steps == ("other",)
    log.write_bytes(record("compileboard_step", {"schema": 1, "name": "1"}))
    assert report.look() == Report(Setting())
    assert report.look().steps == ("1",)


def test_a_whole_log_gives_the_report_that_it_gives_at_once() -> None:
    assert GrowingReport(LOG).look() == build_report(LOG)


def test_it_is_read_again_after_a_while_only(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    report = GrowingReport(log, rests_s=3_600.0)
    log.write_bytes(record("compileboard_step", {"schema": 1, "name": "one"}))
    assert report.look().steps == ("one",)
    with log.open("ab") as file:
        file.write(record("compileboard_step", {"schema": 1, "name": "two"}))
    assert report.look().steps == ("one",)


def test_before_there_is_a_log_there_is_nothing(tmp_path: Path) -> None:
    assert GrowingReport(tmp_path / "none.log").look() == Report(Setting())


def test_who_joins_late_gets_no_report_before_the_end_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reader, build):
        monkeypatch.setattr(module, "MOST_AT_ONCE_BYTES", 20_000)
    monkeypatch.setattr(build, "LONGEST_LOOK_S", 0.0)
    log = TRACES / "foreign" / "trace.log"
    growing = GrowingReport(log, rests_s=0.0, appended=True)
    looks = [(growing.look().kinds, growing.is_behind)]
    while growing.is_behind:
        looks.append((growing.look().kinds, growing.is_behind))
    assert len(looks) == 1 + log.stat().st_size // 20_000
    assert looks[:-1] == [({}, True)] * (len(looks) - 1)
    assert growing.look() == build_report(log)
