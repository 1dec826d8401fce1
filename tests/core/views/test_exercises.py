"""Checks of a solution in words, on recorded reports; attempts and progress by the stored runs."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from core import CompileJob, Model, Report, Run, Status, Store, build_report, from_json
from core.job.gallery import exercise
from core.report import Frame, RunError
from core.views.exercises import CHECKS, AttemptView, ExerciseView
from tests.support.homes import add_run, job_of, keeper
from tests.support.places import TRACES
from tests.support.reports.backends import backend_log

PRINT = exercise("print_inside")
DONE = Status("done", 0.0)


def report(scenario: str) -> Report:
    return from_json((TRACES / scenario / "report.json").read_bytes())


CASES = [
    ("eager_backend", "calls", 1, True, "Results equal those of the original code in eager.", "numerics"),
    (
        "recompile_zoo",
        "calls",
        9,
        True,
        "Results equal those of the original code in eager in all 9 calls.",
        "numerics",
    ),
    ("refused", "calls", 1, False, "0 calls made, 1 expected: keep the calls of the exercise.", "overview"),
    ("target_h100", "calls", 1, False, "No result was compared with eager.", "overview"),
    ("eager_backend", "captured_ops", 5, True, "Every call ran compiled code: 5 ops captured in 1 graph.", "fx_graph"),
    (
        "eager_backend",
        "captured_ops",
        6,
        False,
        "5 ops captured in 1 graph, and the task needs 6: compute the results in the model.",
        "fx_graph",
    ),
    ("refused", "captured_ops", 1, False, "No op was compiled.", "compilations"),
    ("mlp", "graph_breaks", 0, True, "No graph break: `fullgraph=True` would accept the model.", "graph_breaks"),
    (
        "graph_break_zoo",
        "graph_breaks",
        0,
        False,
        "5 graph breaks. The first at line 20: Failed to trace builtin operator.",
        "graph_breaks",
    ),
    ("eager_backend", "recompiles", 0, True, "0 recompiles.", "recompiles"),
    ("recompile_zoo", "recompiles", 8, True, "8 recompiles, at most 8.", "recompiles"),
    (
        "recompile_zoo",
        "recompiles",
        1,
        False,
        "8 recompiles, at most 1. Last failed guard: `G['GLOBAL_OFFSET'] == 1`.",
        "recompiles",
    ),
    ("compiled_itself", "kernels", 1, True, "1 kernel, at most 1: `cpp_fused_add_sin_0`.", "kernels"),
    ("autotuned", "kernels", 1, False, "2 kernels, at most 1: `cpp_fused_relu_0`, `extern_kernels.bmm`.", "kernels"),
    ("eager_backend", "kernels", 1, False, "0 kernels, at most 1.", "kernels"),
    (
        "training_step",
        "saved_bytes",
        200_000,
        True,
        "167 kB of activations saved for the backward, at most 200 kB.",
        "partition",
    ),
    (
        "training_step",
        "saved_bytes",
        50_000,
        False,
        "167 kB of activations saved for the backward, at most 50.0 kB.",
        "partition",
    ),
    ("eager_backend", "saved_bytes", 50_000, False, "No backward.", "partition"),
    ("eager_backend", "backend_calls", 1, True, "1 call of the backend, 1 expected.", "backend"),
    ("own_backend", "backend_calls", 1, False, "2 calls of the backend, 1 expected.", "backend"),
    (
        "eager_backend",
        "executions",
        2,
        False,
        "1 execution of the callable that it returned, 2 expected.",
        "backend",
    ),
    (
        "graph_break_zoo",
        "removed_negations",
        1,
        False,
        "The model has 1 negation, the lowered graph 1; 1 to remove.",
        "passes",
    ),
]


@pytest.mark.parametrize(("scenario", "name", "limit", "passed", "sentence", "page"), CASES)
def test_a_check_says_what_the_run_recorded(
    tmp_path: Path, scenario: str, name: str, limit: int, passed: bool, sentence: str, page: str
) -> None:
    if scenario == "own_backend":
        (tmp_path / "log").write_bytes(backend_log())
        checked = build_report(tmp_path / "log")
    else:
        checked = report({"mlp": "measured"}.get(scenario, scenario))
    check = CHECKS[name](checked, limit)
    assert (check.passed, check.sentence, check.page) == (passed, sentence, page)


def test_negations_count_as_removed_if_the_lowered_graph_has_none() -> None:
    whole = report("graph_break_zoo")
    lowered = tuple(
        replace(item, graphs=tuple(graph for graph in item.graphs if graph.stage != "inductor_post_grad_graph"))
        for item in whole.compilations
    )
    check = CHECKS["removed_negations"](replace(whole, compilations=lowered), 1)
    assert (check.passed, check.sentence) == (True, "The model has 1 negation, the lowered graph 0; 1 to remove.")


def test_a_call_in_eager_is_no_compiled_call() -> None:
    whole = report("eager_backend")
    check = CHECKS["captured_ops"](replace(whole, calls=(replace(whole.calls[0], how="eager"),)), 1)
    assert (check.passed, check.sentence) == (False, "1 call ran partly or wholly in eager.")


def test_a_result_that_differs_is_named() -> None:
    whole = report("eager_backend")
    (call,) = whole.calls
    wrong = tuple(replace(row, same=False, kind="shape", expected="[4]", actual="[5]") for row in call.differences)
    check = CHECKS["calls"](replace(whole, calls=(replace(call, differences=wrong),)), 1)
    assert not check.passed
    assert check.sentence.startswith("Results differ from those of the original code in eager: shape of output")
    undecided = tuple(replace(row, same=None, reason="random") for row in call.differences)
    check = CHECKS["calls"](replace(whole, calls=(replace(call, differences=undecided),)), 1)
    assert not check.passed
    assert check.sentence.startswith("Results cannot be compared with those of the original code in eager: ")


def test_an_attempt_is_solved_if_every_check_passes() -> None:
    view = AttemptView(PRINT, DONE, report("eager_backend"))
    assert (view.solved, view.title, view.torch_hints) == (True, "Solved.", ())
    broken = AttemptView(PRINT, DONE, report("graph_break_zoo"))
    assert (broken.solved, broken.title) == (False, "Not yet: 1 of 3 checks failed.")
    assert broken.torch_hints[0].startswith("Avoid calling builtin `print` with argument types")
    assert len(broken.torch_hints) == 6
    assert not AttemptView(PRINT, replace(DONE, state="running"), report("eager_backend")).solved


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (Status("failed", 0.0), "Failed while loading the model \\(NameError\\: no `torch`\\) at line 3."),
        (
            Status("timed out", 0.0, reason="the run took longer than 600 s"),
            "Timed out\\: the run took longer than 600 s.",
        ),
    ],
)
def test_a_run_that_did_not_end_by_itself_has_its_reason_alone(status: Status, sentence: str) -> None:
    lines = (Frame("model.py", 3, "model", ""),)
    error = RunError("loading the model", "NameError", "", "no `torch`\nhere", lines, "")
    checked = replace(report("eager_backend"), error=error if status.state == "failed" else None, steps=())
    view = AttemptView(PRINT, status, checked)
    assert [check.sentence for check in view.checks] == [sentence]
    assert view.torch_hints == (("no \\`torch\\` here",) if status.state == "failed" else ())
    assert view.title == "Not yet: the run failed, so nothing was checked."
    assert not view.solved


@pytest.mark.parametrize(
    ("message", "end"),
    [
        ("linear() got no input", "linear\\(\\) got no input\\) at line 16."),
        ("never closed (model.py, line 16)", "line 16\\)\\)."),
    ],
)
def test_the_line_of_an_error_is_named_once(message: str, end: str) -> None:
    error = RunError("loading the model", "Error", "", message, (Frame("model.py", 16, "model", ""),), "")
    checked = replace(report("eager_backend"), error=error, steps=())
    (check,) = AttemptView(PRINT, Status("failed", 0.0), checked).checks
    assert check.sentence.endswith(end)


def test_a_run_without_a_report_is_not_solved() -> None:
    view = AttemptView(PRINT, DONE, None)
    assert [check.sentence for check in view.checks] == ["The run recorded nothing."]
    assert view.torch_hints == ()


def attempt(home: Path, job: CompileJob, log: bytes | None, **fields: object) -> Run:
    """A stored run with the title of an exercise's."""
    run = add_run(home, "attempt", log, job=msgspec.to_builtins(job), **fields)
    run.write_status(replace(run.written_status(), title=PRINT.job("").title() if not job.exercise else job.title()))
    return run


def trace(scenario: str) -> bytes:
    return (TRACES / scenario / "trace.log").read_bytes()


def test_the_progress_is_that_of_the_stored_runs(tmp_path: Path) -> None:
    other = exercise("counter")
    first = attempt(tmp_path, PRINT.job("first"), trace("graph_break_zoo"))
    solved = attempt(tmp_path, PRINT.job("second"), trace("eager_backend"))
    tried = attempt(tmp_path, replace(other.job("third"), time_limit_s=20.0), trace("graph_break_zoo"))
    add_run(tmp_path, "mlp", b"", job=job_of("measured"))
    views = ExerciseView.of_runs(Store(tmp_path).list(), ExerciseView.is_solution)
    assert views["print_inside"].attempts == (solved, first)
    assert views["counter"].attempts == (tried,)
    states = {name: view.state for name, view in views.items() if view.state != "not tried"}
    assert states == {"print_inside": "solved", "counter": "tried"}
    assert ExerciseView.progress(views.values()) == "1 of 12 exercises solved."
    assert views["counter"].caption == "Recompiles · tried"


def test_only_the_exercises_own_job_counts(tmp_path: Path) -> None:
    job = PRINT.job("code")
    changed = (
        job.with_settings(dynamic=True),
        replace(job, measure=True),
        replace(job, seed=1),
        replace(job, repairs=(("keep_tensor:17",),)),
        replace(job, exercise="opaque_op"),
        replace(job, exercise="gone_since"),
        CompileJob(Model("sample", "mlp")),
    )
    for other in changed:
        attempt(tmp_path, other, b"")
    damaged = attempt(tmp_path, job, b"")
    (damaged.path / "job.json").write_text("{")
    views = ExerciseView.of_runs(Store(tmp_path).list(), lambda run: True)
    assert {view.state for view in views.values()} == {"not tried"}
    assert not views["print_inside"].is_tried_by(None)
    assert not ExerciseView.is_solution(damaged)


def test_a_live_run_is_no_solution(tmp_path: Path) -> None:
    run = attempt(tmp_path, PRINT.job("code"), trace("eager_backend"), state="running", **keeper())
    assert not ExerciseView.is_solution(run)
    assert not ExerciseView.is_solution(attempt(tmp_path, PRINT.job("code"), None))


def test_a_view_says_what_a_solution_is_checked_with() -> None:
    def words(name: str) -> str:
        return ExerciseView(exercise(name), (), False).checked_with

    against = "against the original code in eager."
    assert words("print_inside") == f"Checked with `torch.compile(model, backend='aot_eager')`, {against}"
    assert words("saved_values") == f"Checked with `torch.compile(model)`, forward and backward, {against}"
