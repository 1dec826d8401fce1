"""Fixes of user code, and a run beside the run that tries one."""

from dataclasses import replace

import pytest

from core import CompileJob, Model, Report, load_text
from core.analysis.repairs.claims import Proof, RunTrials, WhyNot
from core.report import Recompile
from core.views.fixes import DYNAMIC, FixesView, TrialView
from core.views.texts import SourceView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import QUIET

JOB = CompileJob(Model("sample", "graph_break_zoo"), training=False, measure=False)


def source_of(name: str) -> tuple[Report, str]:
    log = TRACES / name / "trace.log"
    report = recorded_report(log)
    return report, SourceView(report, lambda payload: load_text(log, payload)).text()


def fixes_of(name: str, job: CompileJob | None = JOB) -> FixesView:
    report, source = source_of(name)
    return FixesView("run", report, source, job, job)


def test_all_compatible_fixes_are_one_job() -> None:
    fixes = fixes_of("graph_break_zoo")
    fix = fixes.of_all()
    assert fix is not None
    assert fix.name == "All 5 fixes together."
    assert fix.job is not None
    assert [sorted(step) for step in fix.job.repairs] == [["hoist:41", "keep_tensor:31", "print_op:20:x", "where:25"]]
    assert (fix.job.conditions.dynamo, fix.job.repairs_of) == ({"capture_dynamic_output_shape_ops": True}, "run")


@pytest.mark.parametrize(("why", "are_left"), [("another is proven", False), ("no time", True), ("ended", True)])
def test_fixes_are_left_to_try_only_where_the_trials_did_not_reach_them(why: WhyNot, are_left: bool) -> None:
    fixes = fixes_of("graph_break_zoo")
    edits = ("hoist:41", "keep_tensor:31", "print_op:20:x", "where:25", "cond:25", "constant:41")
    settings = ("dynamo.capture_dynamic_output_shape_ops=True", "dynamo.capture_scalar_outputs=True")
    proven = tuple(Proof(key, "repaired") for key in (*edits, *settings))
    assert fixes.are_left
    assert not replace(fixes, trials=RunTrials(proven)).are_left
    untried = (*proven[:-1], replace(proven[-1], outcome="not tried", why=why))
    assert replace(fixes, trials=RunTrials(untried)).are_left is are_left


def test_a_fix_has_no_job_where_the_code_may_not_run() -> None:
    fixes = fixes_of("graph_break_zoo", None)
    first = fixes.of_break(fixes.report.graph_breaks[0])[0]
    assert first.job is None
    assert first.diff.startswith("--- ")


def test_without_code_there_is_a_reason_for_no_fix() -> None:
    report, _ = source_of("graph_break_zoo")
    fixes = FixesView("run", report, "", JOB, JOB)
    without = fixes.without_fix(report.graph_breaks[0])
    assert without == "No fix: the log does not contain the code."


def test_a_trial_compares_the_numbers_of_both_runs() -> None:
    before = fixes_of("graph_break_zoo")
    job = replace(JOB, repairs=(("where:25",),))
    trial = TrialView(before, replace(fixes_of("transformer_block", job), source=before.source))
    assert (trial.outcome, trial.verdict) == ("repaired", "**5 graph breaks fewer, equal results.**")
    assert trial.rows["graph breaks"] == ("5", "0")
    assert (trial.remainders, trial.more_remainders) == ("", "")


def test_dynamic_shapes_are_offered_to_a_job_that_has_not_tried_them() -> None:
    job = CompileJob(Model("sample", "recompile_zoo"))
    report, _ = source_of("recompile_zoo")
    dynamic = f"Compile with `{DYNAMIC}`."

    def names(tried: CompileJob | None) -> list[str]:
        fixes = fixes_of("recompile_zoo", tried)
        return [fix.name for fix in fixes.of_recompile(report.recompiles[0])]

    assert dynamic in names(job)
    assert dynamic in names(None)
    assert dynamic not in names(job.with_settings(dynamic=True))
    assert dynamic in names(job.with_settings(dynamic=False))


def test_one_fix_of_several_breaks_is_applied_and_counted_once() -> None:
    fixes = fixes_of("graph_break_zoo")
    tripled = replace(fixes.report, graph_breaks=fixes.report.graph_breaks * 3)
    assert replace(fixes, report=tripled).of_all() == fixes.of_all()


def test_one_setting_for_all_recompiles_is_a_single_fix() -> None:
    text = "import torch\n\n\nclass Block(torch.nn.Module):\n    def forward(self, x):\n        return x * self.index\n"
    reasons = (Recompile(f"0/{number}", "0/0", f"self._modules['blocks'].index == {number}") for number in range(1, 6))
    fixes = FixesView("run", replace(QUIET, recompiles=tuple(reasons)), text, JOB, JOB)
    assert [len(fixes.of_recompile(reason)) for reason in fixes.report.recompiles] == [1] * 5
    assert fixes.of_all() is None
