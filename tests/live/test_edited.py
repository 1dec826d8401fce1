"""Generated code, edited and run in place of Inductor's: compared with eager, and refused where code may not run."""

from dataclasses import replace

import pytest

from core import CompileJob, CompileOptions, LocalEngine, Model, Report, Run, Runner, Store, open_report
from core.base.errors import JobError
from core.runs.permission import allowed
from core.views.run_files import RunFiles

pytestmark = pytest.mark.torch
FILES = ("output_code.py", "fx_graph_runnable.py")
JOB = CompileJob(Model("sample", "matmul_relu_softmax"), measure=False)
TRAINING = CompileJob(Model("sample", "training_step"), measure=False)


def ran(runner: Runner, job: CompileJob) -> Run:
    return runner.wait(runner.submit(job))


def edited(run: Run, file: str, index: int = 0) -> str:
    kernels = [kernel for compilation in open_report(run).compilations for kernel in compilation.kernels]
    codes = list(dict.fromkeys(kernel.output_code for kernel in kernels))
    return RunFiles(run).edited(codes[index], file)


def with_code(runner: Runner, job: CompileJob, code: str) -> Report:
    return open_report(ran(runner, job.with_settings(backend="backend", backend_code=code)))


def wrong(report: Report) -> list[str]:
    return [difference.what for call in report.calls for difference in call.differences if difference.same is False]


@pytest.fixture(scope="module")
def whole(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose code all tests edit."""
    return ran(Runner(Store(tmp_path_factory.mktemp("whole")), engine), JOB)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("output_code.py", "at::vec::clamp_min(tmp0, decltype(tmp0)(0))", "tmp0"),
        pytest.param(
            "fx_graph_runnable.py",
            "torch.ops.aten.relu.default(",
            "torch.ops.aten.neg.default(",
            marks=pytest.mark.long,
        ),
    ],
)
def test_unedited_code_equals_eager_and_a_wrong_edit_names_the_tensor(
    runner: Runner, whole: Run, file: str, old: str, new: str
) -> None:
    code = edited(whole, file)
    same = with_code(runner, JOB, code)
    assert (same.error, wrong(same), len(same.compilations)) == (None, [], 1)
    assert old in code
    assert wrong(with_code(runner, JOB, code.replace(old, new))) == ["output"]


@pytest.mark.parametrize("file", FILES)
def test_a_syntax_error_names_its_line(runner: Runner, whole: Run, file: str) -> None:
    lines = edited(whole, file).splitlines()
    lines.insert(4, "x = = 3")
    error = with_code(runner, JOB, "\n".join(lines)).error
    assert error is not None
    assert (error.type, error.frames[-1].line, error.frames[-1].text) == ("SyntaxError", 5, "x = = 3")


@pytest.mark.long
def test_each_graph_of_a_training_step_can_be_replaced(runner: Runner) -> None:
    trained = ran(runner, TRAINING)
    for index in range(2):
        code = edited(trained, "output_code.py", index)
        report = with_code(runner, TRAINING, code)
        assert (report.error, wrong(report)) == (None, [])
        assert f"graph {index} of this run" in code


@pytest.mark.long
def test_edited_code_is_timed_against_inductors(runner: Runner, whole: Run) -> None:
    code = edited(whole, "output_code.py")
    job = replace(JOB.with_settings(backend="backend", backend_code=code), rival=CompileOptions(), measure=True)
    rival = open_report(ran(runner, job)).rival
    assert rival is not None
    assert rival.times is not None
    assert len(rival.times.sides["alternative"]) == len(rival.times.sides["compiled"]) > 1


def test_edited_code_is_refused_from_visitors_who_may_bring_none(whole: Run) -> None:
    with pytest.raises(JobError, match="does not run code that visitors bring"):
        allowed(JOB.with_settings(backend="backend", backend_code=edited(whole, "output_code.py")))
