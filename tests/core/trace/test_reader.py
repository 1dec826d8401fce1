"""The reader of logs: whatever is in a file, it reads what can be read and counts the rest."""

import resource
from pathlib import Path
from typing import Any

import pytest

from core import TraceError, build_report
from core.trace.reader import TraceReader, TraceRecord
from tests.support.logs import PREFIX, opened, read, record, report_survives


def test_record_is_read_with_its_payload() -> None:
    header = {"artifact": {"name": "x"}, "frame_id": 1, "frame_compile_id": 2, "attempt": 1, "rank": 3}
    data = record(header, "a\nb")
    with opened(data) as reader:
        (found,) = reader.records()
        assert reader.text(found.offset, found.length) == "a\nb"
        assert reader.check(found)
    assert found == TraceRecord(
        "artifact:x", {"name": "x"}, "1/2", 1, 3, "1121 03:34:01.171000", 0, data.index(b"\ta"), 6, found.md5
    )


def test_truncated_log_is_read_up_to_where_it_ends() -> None:
    records = [
        record({"str": ["m.py", 1]}),
        record({"artifact": {"name": "x"}}, "é\n\nb"),
        record({"artifact": {"name": "y"}}, "c"),
    ]
    data = b"".join(records)
    whole = len(records[0]) + len(records[1])
    for end in range(len(data)):
        found, problems = read(data[:end])
        assert len(found) <= 2
        assert (len(found) >= 1) == (end >= len(records[0]) + len(records[1].split(b"\n")[0]))
        assert end != whole or found[0].length == len(records[1].split(b"\n", 1)[1])
        report_survives(data[:end])
        assert sum(problems.values()) <= 1


def test_payload_that_differs_from_its_md5_is_counted_and_kept() -> None:
    with opened(record({"artifact": {"name": "x"}}, "abc").replace(b"\tabc", b"\tabd")) as reader:
        (found,) = reader.records()
        assert not reader.check(found)
        assert reader.text(found.offset, found.length) == "abd"
        assert dict(reader.problems) == {"payload differs from its md5": 1}
        assert reader.first_problem == {"payload differs from its md5": found.offset}


@pytest.mark.parametrize(
    "bomb",
    [
        '{"a":' * 200_000 + "1" + "}" * 200_000,
        '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}",
        '{"a": ' + "1" * 10_000 + "}",
        '{"a": "\\ud8',
    ],
    ids=["objects", "lists", "integer", "surrogate"],
)
def test_json_bomb_in_a_header_is_counted(bomb: str) -> None:
    data = record({"artifact": {"name": "x"}})
    found, problems = read(data + (PREFIX + bomb + "\n").encode() + data)
    assert (len(found), problems) == (2, {"header is not JSON": 1})


def test_json_bomb_in_a_payload_is_counted() -> None:
    with opened(record({"artifact": {"name": "x"}}, "[" * 200_000)) as reader:
        (found,) = reader.records()
        assert reader.json(found) is None
        assert dict(reader.problems) == {"payload is not JSON": 1}


def test_record_without_a_payload_has_no_json_and_no_problem() -> None:
    with opened(record({"artifact": {"name": "x"}})) as reader:
        (found,) = reader.records()
        assert reader.json(found) is None
        assert dict(reader.problems) == {}


@pytest.mark.parametrize("body", ["[]", "3", '"text"', "null"])
def test_header_that_is_no_object_is_no_record(body: str) -> None:
    assert read((PREFIX + body + "\n").encode()) == ([], {"no record in the file": 1})


def test_header_without_a_kind_is_counted() -> None:
    assert read(record({"frame_id": 1})) == ([], {"record without a kind": 1})


def test_empty_file_has_no_records_and_no_problem() -> None:
    assert read(b"") == ([], {})


def test_binary_file_has_no_records() -> None:
    assert read(bytes(range(256)) * 1000) == ([], {"no record in the file": 1})


def test_text_before_the_first_record_is_counted() -> None:
    found, problems = read(b"hello\n" + record({"artifact": {"name": "x"}}))
    assert (len(found), problems) == (1, {"text before the first record": 1})


def test_missing_file_is_a_trace_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"no\.log cannot be read"):
        TraceReader(tmp_path / "no.log")
    with pytest.raises(TraceError):
        TraceReader(tmp_path)


def test_file_names_are_numbers_and_the_newest_of_two_counts() -> None:
    with opened(record({"str": ["a.py", 1]}) + record({"str": ["b.py", 1]}) + record({"str": [3]})) as reader:
        assert list(reader.records()) == []
        assert [reader.file_name(name) for name in (1, 2, "c.py", None)] == ["b.py", "file 2", "c.py", "None"]
        assert dict(reader.problems) == {"two file names with one number": 1, "unreadable file name": 1}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"frame_id": 0, "frame_compile_id": 1}, "0/1"),
        ({"frame_id": 0, "frame_compile_id": 1, "compiled_autograd_id": 2}, "!2/0/1"),
        ({"compiled_autograd_id": 2}, "!2"),
        ({"frame_id": 0}, ""),
        ({"frame_id": "<b>", "frame_compile_id": "../.."}, ""),
    ],
)
def test_compile_id_is_as_torch_prints_it(header: dict[str, Any], expected: str) -> None:
    found, _ = read(record({**header, "artifact": {"name": "x"}}))
    assert [item.compile_id for item in found] == [expected]


def test_same_compile_id_twice_is_one_compilation_with_all_graphs(tmp_path: Path) -> None:
    graph = record(
        {"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0}, "def forward(self, x):\n    return (x,)\n"
    )
    log = tmp_path / "clash.log"
    log.write_bytes(graph * 3)
    (compilation,) = build_report(log, strict=True).compilations
    assert [item.id for item in compilation.graphs] == [
        "dynamo_output_graph",
        "dynamo_output_graph.2",
        "dynamo_output_graph.3",
    ]


def test_markup_and_control_characters_stay_text(tmp_path: Path) -> None:
    name = "</script><b>\x00\x1b[31m\u202e../../etc"
    log = tmp_path / "markup.log"
    log.write_bytes(record({"artifact": {"name": name}}))
    assert build_report(log, strict=True).unparsed == {f"artifact:{name}": 1}


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_line_of_100_mb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    before = peak_kib()
    with log.open("wb") as file:
        file.write(record({"artifact": {"name": "compileboard_job"}}, "") + PREFIX.encode() + b'{"a": "')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    report = build_report(log)
    assert {problem.what: problem.count for problem in report.problems}["header too long"] == 1
    assert peak_kib() - before < 250_000


def test_million_short_lines_are_read_in_bounded_memory(tmp_path: Path) -> None:
    log = tmp_path / "short.log"
    before = peak_kib()
    log.write_bytes(b"a\n" * 1_000_000 + record({"artifact": {"name": "x"}}) + b"V1\n" * 1_000_000)
    assert build_report(log).kinds == {"artifact:x": 1}
    assert peak_kib() - before < 100_000


def test_many_kinds_are_counted_together_beyond_a_bound(tmp_path: Path) -> None:
    log = tmp_path / "kinds.log"
    log.write_bytes(b"".join(record({f"kind{index}": {}}) for index in range(3_000)))
    kinds = build_report(log, strict=True).kinds
    assert (len(kinds), kinds["other kinds"]) == (2_001, 1_000)
