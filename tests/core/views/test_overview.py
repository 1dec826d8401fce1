"""The overview of a run in words and rows."""

from dataclasses import replace
from typing import Literal

import pytest

from core import CompileJob, CompileOptions, Model, Report, Status
from core.report import Bisection, Call, Difference, RunError, Setting
from core.runs.status import State
from core.views.blocks import Table
from core.views.overview import OutcomeView, OverviewView
from core.views.progress import evidence
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import frame


def report_of(name: str) -> Report:
    return recorded_report(TRACES / name / "trace.log")


def test_each_page_with_a_result_has_a_line() -> None:
    lines = {line.page: line.text for line in evidence(report_of("transformer_block"))}
    assert list(lines) == ["guards", "fx_graph", "fusion", "kernels", "compile_time"]
    assert lines["fusion"] == "Fusion: 12.3 % less memory traffic"


def test_the_heaviest_compilations_are_rows_by_their_ids() -> None:
    overview = OverviewView(report_of("recompile_zoo"))
    assert len(overview.heaviest) == 5
    assert overview.heavy.texts(overview.heaviest).rows[0][:2] == (
        f"[{overview.heaviest[0].id}]",
        overview.heaviest[0].name,
    )
    assert overview.all_compilations.endswith(" compilations")


def test_a_finding_changes_the_job_as_it_proposes() -> None:
    job = CompileJob(Model("sample", "recompile_zoo"))
    changes = {card.change: card.job(job) for card in OverviewView(report_of("recompile_zoo")).findings if card.change}
    assert changes == {
        "torch.compile(model, dynamic=True)": replace(job, compile=CompileOptions(dynamic=True)),
    }


def test_equal_lines_of_the_output_are_counted() -> None:
    overview = OverviewView(Report(Setting()), "loss 1\nloss 1\ndone\n")
    assert overview.output_lines == ["loss 1  (2 times)", "done"]
    assert (overview.output_title, overview.output_left_out) == ("The output: 2 different lines", "")


def test_records_that_cannot_be_read_are_counted() -> None:
    report = Report(Setting(), kinds={"a": 2, "b": 3}, unparsed={"b": 1}, log_bytes=100)
    overview = OverviewView(report)
    assert overview.log_title == "The log: 100 B, 5 records"
    table = Table("log", overview.log_columns, overview.log_kinds)
    assert table.texts(table.rows).rows == (("b", "3", "2 of them"), ("a", "2", "yes"))


@pytest.mark.parametrize(
    ("status", "report", "title"),
    [
        (Status("damaged", 0.0), None, "The run is damaged."),
        (Status("done", 0.0, kind="log"), Report(Setting()), "This is no torch trace."),
        (Status("done", 0.0, kind="log"), None, "This log cannot be read."),
        (Status("cancelled", 0.0), None, "The run was cancelled."),
        (Status("crashed", 0.0), None, "The run ended: crashed."),
        (
            Status("timed out", 0.0),
            Report(Setting(), steps=("call 0: eager", "call 0: comparing")),
            "The run timed out at the step `call 0: comparing`\\.",
        ),
    ],
)
def test_a_run_without_a_verdict_says_how_it_ended(status: Status, report: Report | None, title: str) -> None:
    assert OutcomeView(status, report).title == title


def test_an_error_is_named_with_its_place_and_its_first_paragraph() -> None:
    error = RunError("compiling", "ValueError", "", "no *good*\nmore\n\nfor developers", (), "Traceback …")
    outcome = OutcomeView(Status("failed", 0.0), Report(Setting(), error=error))
    assert outcome.title == "The run failed\\: ValueError\\: no \\*good\\*\\."
    assert outcome.error == "**ValueError** at `compiling`: more"
    assert (outcome.traceback, outcome.line) == ("Traceback …", "")
    asked = replace(error, message="no 'x'. Did you mean: 'y'?")
    assert OutcomeView(Status("failed", 0.0), Report(Setting(), error=asked)).title.endswith("'y'?")


def ended(state: State, report: Report | None = None, kind: Literal["run", "log"] = "run") -> OutcomeView:
    return OutcomeView(Status(state, 0.0, kind=kind), report)


def test_a_run_that_failed_or_differs_is_asked_where() -> None:
    differs = Report(Setting(), calls=(Call(0, "", None, None, differences=(Difference("output", False, "value"),)),))
    same = Report(Setting(), calls=(Call(0, "", None, None, differences=(Difference("output", True, "value"),)),))
    assert [ended(state).asks_where for state in ("failed", "timed out", "crashed")] == [True] * 3
    assert [ended(state).asks_where for state in ("cancelled", "damaged", "running")] == [False] * 3
    assert ended("done", differs).asks_where
    assert not ended("done", same).asks_where
    assert not ended("done", differs, "log").asks_where
    answered = replace(differs, bisection=Bisection("inductor", "lowerings", 2, "sin", trials=9, seconds=2.0))
    assert (ended("done", answered).asks_where, ended("done", answered).is_fault) == (False, True)
    of_eager = replace(same, error=RunError("call 0: eager", "ValueError", "", "no", (), ""))
    assert (ended("failed", of_eager).asks_where, ended("failed", of_eager).is_fault) == (False, True)


def test_the_bisector_is_offered_where_it_can_work_and_a_ladder_elsewhere() -> None:
    job = CompileJob(Model("sample", "mlp"))
    assert ended("failed").bisecting(job) == replace(job, bisect=True, measure=False)
    assert ended("crashed").bisecting(job) is None
    assert ended("failed").bisecting(replace(job, bisect=True)) is None
    assert ended("failed").bisecting(job.with_settings(backend="aot_eager")) is None


def test_the_cause_that_the_bisector_found_is_reported() -> None:
    found = Bisection("inductor", "lowerings", 2, "sin", trials=9, seconds=2.0)
    assert ended("done", Report(Setting(), bisection=found)).bisection.startswith(
        "The cause is the 3rd application of `lowerings`"
    )
    assert ended("done", Report(Setting())).bisection == ""


def test_failures_whose_reasons_differ_in_a_temporary_path_are_one() -> None:
    reasons = [
        *(f"Command '/usr/bin/gcc /tmp/tmpab{name}/cuda_utils.c' failed" for name in ("a1b2", "c3d4", "e5f6")),
        "x",
    ]
    failed = tuple(
        frame(f"{number}/0", status="failed", error=reason, error_type="E") for number, reason in enumerate(reasons)
    )
    view = OverviewView(Report(Setting(), failed))
    assert [(each.failure.compilation, each.others) for each in view.first_failures] == [("0/0", 2), ("3/0", 0)]
    assert view.first_failures[0].text.endswith("nothing was compiled. 2 more for the same reason.")
    assert view.failures_left_out == ""


def test_a_dump_without_findings_names_what_it_does_not_record() -> None:
    report = Report(Setting(), break_record="none", kinds={"inductor_output_code": 1})
    assert OverviewView(report).no_findings == (
        "No issues found in this dump, which has no graph breaks, guards or recompiles."
    )
