"""The index of a log: every record is where the reader finds it, in a log that grows and with an index that lies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import TraceError
from core.trace.index import COLUMNS, IndexRow, TraceIndex, _encoded, index_of
from core.trace.reader import TraceReader
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))
SMALL = (TRACES / "eager_backend" / "trace.log").read_bytes()
HOSTILE = (
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"stack": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"str": {}}\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"artifact": {}, "has_payload": "%s"}\n\tx\n' % (b"a" * 32),
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"artifact": {"name": "\xff", "encoding": "json"}}\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"chromium_event": {}, "rank": 999999999}\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"chromium_event": {}, "rank": -4, "frame_id": 1}\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"chromium_event": {}, "chromium_event": [1]\n',
    b'V0401 12:34:56.789000 4711 torch/a.py:1] {"other": {"name": "n", "encoding": "e"}, "attempt": 70000}\n',
)


def rows_by_reader(log: Path) -> list[IndexRow]:
    with TraceReader(log) as reader:
        return [
            IndexRow(n, r.kind, r.compile_id, min(r.attempt, 65_535), r.rank, r.header_offset, r.offset, r.length)
            for n, r in enumerate(reader.records())
        ]


def log_of(folder: Path, data: bytes) -> Path:
    log = folder / "trace.log"
    log.write_bytes(data)
    return log


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_record_is_where_the_reader_finds_it(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    assert list(index_of(log).rows()) == rows_by_reader(log)


@pytest.mark.parametrize("line", HOSTILE)
def test_a_header_that_is_almost_plain_is_read_as_the_reader_reads_it(tmp_path: Path, line: bytes) -> None:
    log = log_of(tmp_path, SMALL[:20_000] + line + SMALL[20_000:])
    with TraceReader(log) as reader:
        list(reader.records())
        assert (list(index_of(log).rows()), index_of(log).tables.problems) == (rows_by_reader(log), reader.problems)


@given(cut=st.integers(0, len(SMALL)))
def test_an_index_is_extended_when_its_log_grows(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("grows")
    log = log_of(folder, SMALL[:cut])
    index_of(log, folder / "index")
    log.write_bytes(SMALL)
    index = index_of(log, folder / "index")
    assert (list(index.rows()), index.tables) == (rows_by_reader(log), index_of(log).tables)


@given(place=st.integers(0, 30_000), byte=st.integers(0, 255))
def test_a_damaged_index_gives_no_place_outside_its_log(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    log, stored = log_of(folder, SMALL), folder / "index"
    index_of(log, stored)
    data = bytearray(stored.read_bytes())
    data[place % len(data)] = byte
    stored.write_bytes(data)
    for row in index_of(log, stored).rows():
        assert 0 <= row.header <= row.offset <= row.offset + row.length <= len(SMALL)


@pytest.mark.parametrize("column", ["header", "offset", "length"])
def test_an_index_with_a_record_that_ends_before_it_begins_or_after_its_log_is_made_again(
    tmp_path: Path, column: str
) -> None:
    log, stored = log_of(tmp_path, SMALL), tmp_path / "index"
    columns = {name: index_of(log).column(name) for name in COLUMNS}
    columns[column][0] = 0 if column == "offset" else len(SMALL)
    columns["header"][0] = max(columns["header"][0], 1)
    stored.write_bytes(_encoded(TraceIndex(log, index_of(log).tables, columns)))
    assert list(index_of(log, stored).rows()) == rows_by_reader(log)


def test_an_index_of_another_log_is_made_again(tmp_path: Path) -> None:
    log, stored = log_of(tmp_path, SMALL), tmp_path / "index"
    index_of(log, stored)
    log.write_bytes((TRACES / "refused" / "trace.log").read_bytes())
    assert list(index_of(log, stored).rows()) == rows_by_reader(log)


def test_records_are_chosen_by_kind_and_compilation() -> None:
    index = index_of(TRACES / "graph_break_zoo" / "trace.log")
    chosen = [index.row(number) for number in index.numbers(["inductor_output_code"], "2/0")]
    assert [(row.kind, row.compile_id) for row in chosen] == [("inductor_output_code", "2/0")]
    assert [*index.numbers(["no such kind"]), *index.numbers(compile_id="99/0")] == []
    assert sum(index.counts().values()) == len(index)


def test_a_log_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"gone\.log cannot be read"):
        index_of(tmp_path / "gone.log", tmp_path / "index")


def test_a_log_without_a_record_has_an_index_without_rows(tmp_path: Path) -> None:
    log, stored = log_of(tmp_path, b""), tmp_path / "index"
    index_of(log, stored)
    before = stored.stat().st_mtime_ns
    assert list(index_of(log, stored).rows()) == []
    assert stored.stat().st_mtime_ns == before
