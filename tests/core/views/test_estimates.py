"""Torch's estimates, collectives and order of execution, on records in torch's form."""

import json
from pathlib import Path

from core import build_report
from core.report import Collectives, GraphRuns, Report
from core.trace.parsers.build import load_text
from core.views.blocks import Listing, Table, words
from core.views.compilations import CompilationsView
from core.views.decisions import estimates as estimates_of
from tests.support.logs import record

IDS = {"frame_id": 0, "frame_compile_id": 0}
OPS = [
    {
        "name": "op0",
        "type": "compute",
        "estimated_runtime_ns": 1500.0,
        "outputs": [{"shape": [8, 4], "stride": [4, 1], "dtype": "float32"}],
    },
    {
        "name": "torch.ops._c10d_functional.all_reduce_.default",
        "type": "collective",
        "estimated_runtime_ns": 500,
        "outputs": [{"shape": [], "stride": [], "dtype": None}, 7],
    },
    {"name": "op2", "outputs": "none"},
    "no op",
]
ALL_REDUCE = "torch.ops._c10d_functional.all_reduce_.default"


def artifact(name: str, content: object, **ids: int) -> bytes:
    return record({"artifact": {"name": name, "encoding": "json"}, **ids}, json.dumps(content))


def logged(folder: Path, *records: bytes) -> tuple[Report, Path]:
    log = folder / "trace.log"
    log.write_bytes(b"".join(records))
    return build_report(log, strict=True), log


def test_each_op_has_its_estimate_and_its_results(tmp_path: Path) -> None:
    estimates = artifact("inductor_runtime_and_tensor_meta", {"ops": OPS}, **IDS)
    schedule = artifact("inductor_collective_schedule", [ALL_REDUCE, "wait"], **IDS)
    report, log = logged(tmp_path, estimates, schedule)
    (compilation,) = report.compilations
    (fold,) = estimates_of(compilation, lambda payload: load_text(log, payload))
    _, table, calls = fold.blocks
    assert isinstance(table, Table)
    assert isinstance(calls, Listing)
    assert compilation.collectives == (Collectives((ALL_REDUCE, "wait")),)
    assert words(fold.title) == "3 ops, 2.00 µs by torch's estimate; 2 collective calls in order"
    assert calls.code.text == f"{ALL_REDUCE}\nwait"
    assert table.texts(table.rows).rows == (
        ("op0", "compute", "1.50 µs", "f32[8, 4][4, 1]"),
        (ALL_REDUCE, "collective", "500 ns", ""),
        ("op2", "", "0 s", ""),
    )


def test_the_order_of_execution_is_told_in_runs(tmp_path: Path) -> None:
    order = [{"compile_id": name} for name in ("0/0", "0/0", "1/0", "0/0")]
    report, _ = logged(tmp_path, artifact("graph_execution", {"graph_execution_order": order}))
    assert report.graph_runs == (GraphRuns("0/0", 2), GraphRuns("1/0", 1), GraphRuns("0/0", 1))
    words = r"Executed in this order: [0/0] × 2, [1/0], [0/0]."
    assert CompilationsView(report).execution_order == words
    assert CompilationsView(logged(tmp_path)[0]).execution_order == ""
