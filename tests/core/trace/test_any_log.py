"""Whatever is in a log, its payloads come back, and it becomes a report that can be stored and opened."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.logs import PREFIX, opened, record, report_survives

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


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_payloads_come_back_as_they_were(payloads: list[str]) -> None:
    with opened(b"".join(record({"artifact": {"name": "x"}}, payload) for payload in payloads)) as reader:
        records = list(reader.records())
        assert [reader.text(item.offset, item.length) for item in records] == payloads
        assert [reader.check(item) for item in records] == [True] * len(payloads)
