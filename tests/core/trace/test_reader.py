"""The reader of logs: whatever is in a file, it reads what can be read and counts the rest."""

import hashlib
import json
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import TraceError, build_report, from_json, to_json
from core.trace import TraceReader, TraceRecord

PREFIX = "V1121 03:34:01.171000 5351 torch/_dynamo/output_graph.py:2841] "
TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text("\n\r\t\f\v\x1c\x85\u2028 a{")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(["0/0", "B", "E"])
)
KEYS = st.sampled_from(
    [
        "artifact",
        "name",
        "frame_id",
        "frame_compile_id",
        "attempt",
        "has_payload",
        "str",
        "stack",
        "chromium_event",
        "ts",
        "ph",
        "args",
        "dynamo_start",
        "create_symbol",
        "compilation_metrics",
        "co_name",
        "line",
        "filename",
        "graph_dump",
        "rank",
        "dynamo_output_graph",
        "restart_reasons",
        "compileboard_call",
    ]
) | st.text(st.characters(), max_size=5)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
NAMES = st.sampled_from(
    [
        "compileboard_job",
        "compileboard_call",
        "compileboard_schedule",
        "compileboard_timing",
        "compileboard_error",
        "compileboard_counters",
        "compileboard_source",
        "compileboard_kernel",
        "recompile_reasons",
        "dynamo_graph_break_reason",
        "inductor_provenance_tracking_node_mappings",
        "fx_graph_cache_miss",
        "torch_version",
    ]
)


def record(header: dict[str, Any], payload: str | None = None) -> bytes:
    """One record as torch writes it."""
    if payload is not None:
        md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        header = {**header, "has_payload": md5}
    lines = [
        PREFIX + json.dumps(header),
        *(["\t" + line for line in payload.split("\n")] if payload is not None else []),
    ]
    return "\n".join(lines).encode() + b"\n"


@contextmanager
def opened(data: bytes) -> Iterator[TraceReader]:
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        with TraceReader(Path(file.name)) as reader:
            yield reader


def report_survives(data: bytes) -> None:
    """A log becomes a report that can be stored and opened, whatever is in the log."""
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        report = build_report(Path(file.name))
    assert from_json(to_json(report)) == report


def read(data: bytes) -> tuple[list[TraceRecord], dict[str, int]]:
    with opened(data) as reader:
        return list(reader.records()), dict(reader.problems)


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


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_payloads_come_back_as_they_were(payloads: list[str]) -> None:
    with opened(b"".join(record({"artifact": {"name": "x"}}, payload) for payload in payloads)) as reader:
        records = list(reader.records())
        assert [reader.text(item.offset, item.length) for item in records] == payloads
        assert [reader.check(item) for item in records] == [True] * len(payloads)


@given(
    st.binary()
    | st.lists(st.sampled_from([PREFIX.encode(), b"{", b"}", b"\n", b"\t", b'"', b"\xff", b"\0"])).map(b"".join)
)
def test_any_bytes_are_read_or_counted(data: bytes) -> None:
    report_survives(data)


@given(st.lists(JSON.map(lambda body: (PREFIX + json.dumps(body)).encode() + b"\n"), max_size=4).map(b"".join))
def test_any_header_is_read_or_counted(data: bytes) -> None:
    report_survives(data)


@settings(max_examples=300)
@given(NAMES, JSON | st.dictionaries(KEYS, JSON).map(lambda body: {**body, "schema": 1}))
def test_any_json_payload_is_read_or_counted(name: str, body: Any) -> None:
    report_survives(record({"artifact": {"name": name}, "frame_id": 0, "frame_compile_id": 0}, json.dumps(body)))


@given(st.sampled_from(["dynamo_output_graph", "dynamo_cpp_guards_str", "inductor_output_code"]), TEXT)
def test_any_text_payload_is_read_or_counted(kind: str, payload: str) -> None:
    report_survives(record({kind: {}, "frame_id": 0, "frame_compile_id": 0}, payload))


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


@pytest.mark.parametrize(
    "header",
    [
        {"\ud800": 1},
        {"artifact": {"name": "\udfff"}},
        {"dynamo_start": {"stack": [{"line": 10**30, "name": "\ud800"}]}},
        {"compilation_metrics": {"co_name": "f", "co_firstlineno": 10**40, "x": [10**300]}},
        {"compilation_metrics": {"co_name": "f", "x": float("nan"), "y": [float("inf")]}},
        {"chromium_event": {"ph": "B", "ts": float("nan"), "name": "x"}},
        {"chromium_event": {"ph": "B", "ts": 10**400, "name": "x"}},
        {"attempt": 10**30, "dynamo_output_graph": {}},
        {"rank": 10**30, "frame_id": 10**30, "frame_compile_id": 10**4000, "dynamo_start": {}},
        {"create_symbol": {"val": 10**30}},
        {"compilation_metrics": {"co_name": "f", "x": json.loads("[" * 900 + "]" * 900)}},
        {"attempt": -5, "compilation_metrics": {"co_name": ["f"], "co_firstlineno": "one"}},
    ],
)
def test_values_that_json_or_utf8_cannot_hold_do_not_break_the_report(header: dict[str, Any]) -> None:
    report_survives(record({"frame_id": 0, "frame_compile_id": 0, **header}))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("compileboard_call", {"index": 10**30, "inputs": "", "eager_s": 1, "compiled_s": 1, "differences": []}),
        (
            "compileboard_call",
            {"index": 0, "inputs": "\ud800", "eager_s": 1e999, "compiled_s": -1e999, "differences": []},
        ),
        ("compileboard_call", {"index": 0, "differences": [{"max_abs": "x", "max_rel": None}]}),
        ("compileboard_timing", {"eager_s": [float("nan")], "compiled_s": [1], "warm_up": 0, "calls_per_sample": 1}),
        ("compileboard_job", {"job": {"x": 10**30, "y": float("nan"), "\ud800": 1}}),
        ("compileboard_counters", {"dynamo": {"a": {"b": 10**30}}, "inductor": {}}),
        ("compileboard_kernel", {"name": 1, "handle": [1], "nodes": 3}),
    ],
)
def test_wrong_values_in_our_own_records_do_not_break_the_report(name: str, body: dict[str, Any]) -> None:
    report_survives(record({"artifact": {"name": name}}, json.dumps({"schema": 1, **body})))


def test_empty_file_has_no_records_and_no_problem() -> None:
    assert read(b"") == ([], {})


def test_binary_file_has_no_records() -> None:
    assert read(bytes(range(256)) * 1000) == ([], {"no record in the file": 1})


def test_text_before_the_first_record_is_counted() -> None:
    found, problems = read(b"hello\n" + record({"artifact": {"name": "x"}}))
    assert (len(found), problems) == (1, {"text before the first record": 1})


def test_a_growing_log_that_is_cut_off_is_read_as_it_was(tmp_path: Path) -> None:
    """A run may do that to its own log; a mapped file would take the process that reads it along."""
    log = tmp_path / "trace.log"
    log.write_bytes(record({"dynamo_start": {}}, "text\n" * 10_000) * 2)
    with TraceReader(log, growing=True) as reader:
        log.write_bytes(b"")
        assert [reader.text(found.offset, found.length) for found in reader.records()] == ["text\n" * 10_000] * 2


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
