"""The search for the cause of a wrong result: torch's CompilerBisector over real runs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.numerics import bisection_words, cure_words, minified_words, nan_words
from core.report import Bisection
from core.views.sharing import issue_of
from tests.live.test_presets import RELU, WRONG_PASS

pytestmark = pytest.mark.torch
# A lowering that is wrong for one op, as a bug of Inductor's would be.
WRONG_LOWERING = f"""{RELU}
from torch._inductor.lowering import lowerings

lowerings[torch.ops.aten.sin.default] = lambda x: lowerings[torch.ops.aten.cos.default](x)
"""
# Eager code that has another result while Dynamo captures it.
WRONG_CAPTURE = """import torch
def model(x):
    return torch.relu(x) + (2 if torch.compiler.is_compiling() else 1)
inputs = (torch.linspace(-3, 3, 64),)
"""


CHAIN = """import torch
def model(x):
    x = x.cos() * 2 + x.tanh()
    return torch.relu(x.sin()) * 2
inputs = (torch.linspace(-3, 3, 64),)
"""
NAN = """import torch
def model(x):
    y = x.sin() * 2
    return y.log().exp() + 1
inputs = (torch.linspace(-3, 3, 64),)
"""


# Runs scripts, each in a process that is forked from one that has imported torch, and prints how each ended.
ALONE = """
import os, runpy, sys, torch, torch._inductor.compile_fx
for path in sys.argv[1:]:
    if (pid := os.fork()) == 0:
        os.dup2(os.open(path.removesuffix(".py") + ".stderr", os.O_CREAT | os.O_WRONLY), 2)
        runpy.run_path(path, run_name="__main__")
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def bisecting(runner: Runner, code: str, **options: object) -> Run:
    job = CompileJob(Model("code", code), compile=CompileOptions(**options), measure=False, bisect=True)  # type: ignore[arg-type]
    return runner.wait(runner.submit(job))


def bisected(runner: Runner, code: str, **options: object) -> Bisection:
    report = open_report(bisecting(runner, code, **options))
    assert report.bisection is not None
    return report.bisection


@pytest.fixture(scope="module")
def wrong_lowering(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Bisection:
    """One bisection of the wrong lowering, which two tests ask."""
    return bisected(Runner(Store(tmp_path_factory.mktemp("wrong_lowering")), engine), WRONG_LOWERING)


@pytest.mark.long
def test_a_wrong_pass_is_named(runner: Runner) -> None:
    found = bisected(runner, WRONG_PASS)
    assert (found.backend, found.subsystem, found.what) == (
        "inductor",
        "post_grad_passes",
        "post_grad_custom_post_pass",
    )
    assert "`post_grad_passes` in `inductor`: `post_grad_custom_post_pass`" in bisection_words(found)
    assert found.trials > 5
    assert "torch.relu(" in found.script
    assert minified_words(found) == "Torch's minifier left 1 of 3 ops: that graph gives other results than eager."


@pytest.mark.long
def test_a_wrong_lowering_is_named_with_its_node(wrong_lowering: Bisection) -> None:
    assert (wrong_lowering.backend, wrong_lowering.subsystem) == ("inductor", "lowerings")
    assert "sin" in wrong_lowering.what


@pytest.mark.long
def test_the_options_that_are_advised_for_a_wrong_lowering_give_eagers_results(
    runner: Runner, wrong_lowering: Bisection
) -> None:
    assert cure_words(wrong_lowering) == f"With `options={wrong_lowering.mitigation}`, all results equal eager's."
    options = ast.literal_eval(wrong_lowering.mitigation)
    job = CompileJob(Model("code", WRONG_LOWERING), compile=CompileOptions(options=options), measure=False)
    run = runner.wait(runner.submit(job))
    report = open_report(run)
    # What ended a run early is in the message of the failed test.
    assert (run.status().state, run.status().reason, report.error, run.output_tail(2_000)) == ("done", "", None, "")
    assert [difference for call in report.calls for difference in call.differences if difference.same is False] == []
    assert report.calls


def test_a_difference_in_dynamo_needs_no_pass(runner: Runner) -> None:
    found = bisected(runner, WRONG_CAPTURE)
    assert (found.backend, found.subsystem, found.application) == ("eager", "", None)


def test_a_run_without_a_difference_has_nothing_to_bisect(runner: Runner) -> None:
    found = bisected(runner, RELU)
    assert (found.backend, found.trials) == ("", 1)
    assert found.problem == "compiled once more, the model neither fails nor differs"
    assert minified_words(found) == "No minified script: no graph of Dynamo, compiled alone, fails or differs."
    assert nan_words(found) == ""


@pytest.mark.long
def test_another_backend_cannot_be_bisected(runner: Runner) -> None:
    found = bisected(runner, RELU, backend="relu_compile_error_TESTING_ONLY")
    assert found.trials == 0
    assert found.problem.startswith("torch's CompilerBisector replaces the backend")


@pytest.mark.long
def test_one_relu_is_left_of_a_graph_and_the_issues_script_fails_without_us(runner: Runner, tmp_path: Path) -> None:
    cases = {
        "relu_compile_error_TESTING_ONLY": ("BackendCompilerFailed", "ReluCompileError"),
        "relu_runtime_error_TESTING_ONLY": ("AssertionError", "AssertionError"),
        "relu_accuracy_error_TESTING_ONLY": ("differs", "Tensor-likes are not close"),
    }
    for backend, (outcome, _) in cases.items():
        run = bisecting(runner, CHAIN, backend=backend)
        found = open_report(run).bisection
        assert found is not None
        assert (found.ops, found.captured_ops, found.outcome, found.reproduces) == (1, 7, outcome, True)
        assert found.script.count("torch.relu(") == 1
        (tmp_path / f"{backend}.py").write_text(issue_of(run).script)
    scripts = [tmp_path / f"{backend}.py" for backend in cases]
    command = [sys.executable, "-c", ALONE, *map(str, scripts)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert ended.stdout.split()[-len(scripts) :] == ["1"] * len(scripts)
    for script, (_, raised) in zip(scripts, cases.values(), strict=True):
        assert raised in script.with_suffix(".stderr").read_text()


def test_the_first_node_that_makes_a_nan_is_named_with_its_line(runner: Runner) -> None:
    found = bisected(runner, NAN)
    assert nan_words(found).startswith("In eager, the first node that makes a NaN is `log = log`, model.py:4: ")
