"""Counts of graphs and recompiles, as torch's own counters have them."""

import json

import pytest

from core.analysis.dynamo.recompiles import recompiled
from core.analysis.verdict import graph_count, verdict
from core.analysis.work import captured_ops
from core.report import FxGraph, Payload, Recompile, Report, Setting, Status
from core.report.records import SCHEMA
from core.runs.progress import progress
from core.views.fx_graph import GraphStages
from core.views.verdict import sentence
from tests.support.logs import record, recorded_report, report_of
from tests.support.places import TRACES
from tests.support.reports.findings import frame

STAGES = ("dynamo_output_graph", "inductor_post_grad_graph")


def graphs(attempt: int, calls: int) -> tuple[FxGraph, ...]:
    ops = {"placeholder": 1, "call_function": calls, "output": 1}
    return tuple(
        FxGraph(f"{stage}_{attempt}", stage, "", attempt, Payload(0, 0), ops, {"aten.sin": calls})  # type: ignore[arg-type]
        for stage in STAGES
    )


def restarted(status: Status, *made: FxGraph) -> Report:
    return Report(Setting(), (frame("0/0", graphs=graphs(0, 3)), frame("0/1", status=status, graphs=made, attempts=2)))


@pytest.mark.parametrize(
    ("status", "made", "count"),
    [
        ("ok", (*graphs(0, 2), *graphs(1, 5)), 2),
        ("ok", graphs(1, 5), 2),
        ("failed", graphs(0, 2), 1),
        ("empty", graphs(0, 2), 1),
    ],
)
def test_the_graphs_of_a_restarted_attempt_do_not_count(status: Status, made: tuple[FxGraph, ...], count: int) -> None:
    report = restarted(status, *made)
    assert (graph_count(report), verdict(report).graphs, progress(report).graphs) == (count, count, count)


def test_ops_and_stages_are_those_of_the_last_attempt() -> None:
    compilation = restarted("ok", *graphs(0, 2), *graphs(1, 5)).compilations[1]
    assert captured_ops(compilation) == 5
    assert [graph.targets for graph in compilation.lowered_graphs] == [{"aten.sin": 5}]
    assert GraphStages(compilation.graphs).first.id == "dynamo_output_graph_1"


def test_a_compilation_that_only_hit_the_limit_is_no_recompile() -> None:
    report = recorded_report(TRACES / "recompile_zoo" / "trace.log")
    assert [reason.compilation for reason in report.recompiles][-1] == "0/8"
    assert recompiled(report) == tuple(f"0/{number}" for number in range(1, 8))
    assert verdict(report).recompiles == 7


def test_a_recompile_counts_once_for_all_its_reasons() -> None:
    compilations = (frame("0/0"), frame("0/1"), frame("0/2", status="not finished"))
    reasons = (Recompile("0/1", "0/0", "a"), Recompile("0/2", "0/1", "b"), Recompile("0/2", "0/0", "a"))
    assert recompiled(Report(Setting(), compilations, recompiles=reasons)) == ("0/1", "0/2")


def test_counts_of_a_run_whose_code_stopped_torchs_records_are_not_recorded() -> None:
    note = {"artifact": {"name": "compileboard_note", "encoding": "json"}}
    start = {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    log = record(start) + record(note, json.dumps({"schema": SCHEMA, "text": "Handlers removed.", "lost": True}))
    summary = verdict(report_of(log))
    assert sentence(summary) == "Graphs not recorded, graph breaks not recorded."
    assert summary.recompiles is None
