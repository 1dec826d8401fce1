"""Logs of torch 2.4 to 2.9: the report's counts equal torch's counts in the recorded process.

The logs are of tests/versions/script.py, which prints the graphs and ops of torch's `CompileCounter`. By hand, its
functions have 7 graph breaks, and a caller hits one of them, too.
"""

from pathlib import Path
from typing import Literal

import pytest

from core.analysis.budget import judge, read_budget
from core.analysis.comparison.matching import RunSide
from core.analysis.comparison.run import compare_runs
from core.analysis.durations import compile_seconds
from core.analysis.verdict import verdict
from core.analysis.work import captured_ops
from core.report import Report
from core.runs.inputs import opened_input
from core.trace.index import index_of
from core.trace.parsers.build import build_report, outline
from core.views.compile_time import CompileTimeView
from core.views.graph_breaks import GraphBreaksView
from core.views.header import first_facts, page_contents
from core.views.recompiles import RecompilesView, _edge_words
from core.views.verdict import sentence
from tests.support.places import ROOT

VERSIONS = ("2.4", "2.5", "2.6", "2.7", "2.9")
# Version → graphs and ops of `CompileCounter`, for the functions with breaks and those with recompiles.
COUNTED = {
    "2.4": ((14, 18), (11, 17)),
    "2.5": ((14, 18), (10, 16)),
    "2.6": ((14, 18), (10, 17)),
    "2.7": ((14, 18), (10, 17)),
    "2.9": ((14, 18), (10, 17)),
}
Way = Literal["breaks", "recompiles", "training"]


def report_of(version: str, way: Way) -> Report:
    with opened_input(ROOT / "tests" / "versions" / f"{version}-{way}.log.gz") as logs:
        return build_report(logs.single, strict=True)


def side(report: Report) -> RunSide:
    return RunSide(report, lambda payload: "", lambda compilation, graph: ())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", [0, 1])
def test_graphs_and_ops_are_those_of_torchs_counter(version: str, number: int) -> None:
    way: Way = "recompiles" if number else "breaks"
    report = report_of(version, way)
    counts = verdict(report).graphs, sum(map(captured_ops, report.compilations))
    assert (counts, report.problems) == (COUNTED[version][number], ())


@pytest.mark.parametrize("version", VERSIONS)
def test_frames_have_the_users_names(version: str) -> None:
    names = [compilation.frame.name for compilation in report_of(version, "breaks").compilations]
    assert [name for name in names if name in ("printing", "inner", "loop")] == ["printing", "inner", "loop"]
    assert "torch_dynamo_resume_in_inner_at_53" in names


@pytest.mark.parametrize("version", ["2.6", "2.7", "2.9"])
def test_all_breaks_of_a_log_with_records_are_counted(version: str) -> None:
    report = report_of(version, "breaks")
    lines = [(each.place.line, len(each.compilations)) for each in report.graph_breaks]
    assert lines == [(16, 1), (22, 1), (29, 1), (36, 1), (47, 1), (53, 2), (64, 1)]
    assert report.break_record == "complete"


def test_a_reason_of_torch_2_6_is_the_text_after_the_word() -> None:
    reasons = [each.reason for each in report_of("2.6", "breaks").graph_breaks]
    assert reasons[1:3] == ["Tensor.item", "Data-dependent jump"]
    assert reasons[0] == "builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False"


@pytest.mark.parametrize("version", ["2.4", "2.5"])
def test_breaks_of_a_log_without_records_are_a_lower_bound(version: str) -> None:
    report = report_of(version, "breaks")
    lines = [(each.place.line, len(each.compilations)) for each in report.graph_breaks]
    assert lines == [(16, 1), (22, 1), (29, 1), (36, 1), (47, 1), (53, 2)]
    assert [each.reason for each in report.graph_breaks][1:3] == ["Tensor.item", "reason not recorded"]
    assert sentence(verdict(report)) == "At least 6 graph breaks split the code into 14 graphs."
    assert GraphBreaksView(report).title == "At least 6 graph breaks, hit 7 times."
    assert first_facts(verdict(report))[0][:2] == ("at least 6", "graph breaks")


@pytest.mark.parametrize("version", ["2.4", "2.5"])
def test_breaks_without_a_trace_are_not_recorded(version: str) -> None:
    report = report_of(version, "recompiles")
    assert report.break_record == "none"
    assert "0 graph breaks" not in sentence(verdict(report))
    assert GraphBreaksView(report).title == "Graph breaks not recorded."
    assert first_facts(verdict(report))[0][:2] == ("graph breaks", "not recorded")
    assert page_contents(report, live=False)["graph_breaks"].why_empty == "Graph breaks were not recorded"


@pytest.mark.parametrize("version", ["2.6", "2.7", "2.9"])
def test_a_version_that_writes_breaks_has_none_without_a_record(version: str) -> None:
    assert sentence(verdict(report_of(version, "recompiles"))) == "5 recompiles, 10 graphs."


def test_recompiles_without_reasons_are_counted_by_compile_ids() -> None:
    report = report_of("2.4", "recompiles")
    recompiled = [(each.compilation, each.reason) for each in report.recompiles]
    assert recompiled == [(name, "reason not recorded") for name in ("0/1", "1/1", "1/2", "2/1", "3/1", "4/1")]
    assert sentence(verdict(report)) == "6 recompiles, 11 graphs."


def test_a_recompile_without_reason_names_only_itself() -> None:
    view = RecompilesView(report_of("2.4", "recompiles"))
    assert view.title.startswith("6 recompiles")
    assert _edge_words("", "0/1") == "\\[0/1\\]"
    assert _edge_words("0/0", "0/1") == "\\[0/0\\] → \\[0/1\\]"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_compilation_has_its_seconds(version: str) -> None:
    report = report_of(version, "training")
    seconds = compile_seconds(report)
    assert set(seconds) == {"0/0"}
    assert seconds["0/0"] > 10


def test_seconds_without_chromium_events_are_those_of_the_metrics() -> None:
    seconds = compile_seconds(report_of("2.4", "training"))
    assert seconds == {"0/0": pytest.approx(14.616576)}


@pytest.mark.parametrize("version", ["2.4", "2.5"])
def test_seconds_from_metrics_are_named_as_such(version: str) -> None:
    note = CompileTimeView(report_of(version, "training")).chart_note
    assert ("no Chromium events" in note) is (version == "2.4")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_training_step_has_five_kernels_in_eight_calls(version: str) -> None:
    work = verdict(report_of(version, "training")).work
    assert (work.kernels, work.calls) == (5, 8)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("way", ["breaks", "recompiles"])
def test_the_outline_has_the_same_breaks_and_recompiles(tmp_path: Path, version: str, way: Way) -> None:
    with opened_input(ROOT / "tests" / "versions" / f"{version}-{way}.log.gz") as logs:
        whole, first = build_report(logs.single), outline(index_of(logs.single))
    assert first.graph_breaks == whole.graph_breaks
    assert first.break_record == whole.break_record
    assert [each.compilation for each in first.recompiles] == [each.compilation for each in whole.recompiles]


@pytest.mark.parametrize(
    ("version", "way", "limit", "judged"),
    [
        ("2.4", "breaks", 0, ("at least 6", "over")),
        ("2.4", "breaks", 6, ("at least 6", "not recorded")),
        ("2.5", "recompiles", 0, ("–", "not recorded")),
        ("2.6", "recompiles", 0, ("0", "within")),
        ("2.6", "breaks", 7, ("7", "within")),
    ],
)
def test_a_budget_passes_only_with_recorded_breaks(version: str, way: Way, limit: int, judged: tuple[str, str]) -> None:
    budget = read_budget(f"[at-most]\ngraph-breaks = {limit}")
    (judgement,) = judge(budget, [side(report_of(version, way))])
    assert (judgement.value, judgement.standing) == judged
    assert judgement.failed == (judged[1] != "within")


def test_the_seconds_of_compilations_with_equal_times_of_their_records_are_not_merged(tmp_path: Path) -> None:
    log = tmp_path / "old.log"
    log.write_text(
        "".join(
            f'V0401 10:00:00.000000 1 torch/_dynamo/x.py:1] {{"compilation_metrics": {{"co_name": "{name}", '
            f'"co_filename": "/m.py", "co_firstlineno": 3, "restart_reasons": {reasons}, "graph_op_count": 1, '
            f'"entire_frame_compile_time_s": {seconds}}}, "frame_id": {frame}, "frame_compile_id": 0, "attempt": 0}}\n'
            for frame, name, reasons, seconds in (
                (0, "f", '["print"]', 1.5),
                (1, "torch_dynamo_resume_in_f_at_5", "[]", 0.5),
            )
        )
    )
    report = build_report(log, strict=True)
    assert compile_seconds(report) == {"0/0": 1.5, "1/0": 0.5}
    assert sentence(verdict(report)) == "At least 1 graph break split the code into 2 graphs."


def test_a_comparison_shows_bounds_in_place_of_numbers() -> None:
    old, new = (side(report_of(version, "breaks")) for version in ("2.5", "2.6"))
    figure = compare_runs(old, new).figure("graph breaks")
    assert (figure.left_words, figure.right_words, figure.differs) == ("at least 6", "7", False)
