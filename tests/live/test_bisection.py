"""The search for the cause of a wrong result: torch's CompilerBisector over real runs."""

import pytest

from core import CompileJob, CompileOptions, Model, Runner, open_report
from core.analysis.bisection import bisection_words
from core.report import Bisection
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


def bisected(runner: Runner, code: str, **options: object) -> Bisection:
    job = CompileJob(Model("code", code), compile=CompileOptions(**options), measure=False, bisect=True)  # type: ignore[arg-type]
    report = open_report(runner.wait(runner.submit(job)))
    assert report.bisection is not None
    return report.bisection


def test_a_wrong_pass_is_named(runner: Runner) -> None:
    found = bisected(runner, WRONG_PASS)
    assert (found.backend, found.subsystem, found.what) == (
        "inductor",
        "post_grad_passes",
        "post_grad_custom_post_pass",
    )
    assert "`post_grad_passes` in `inductor`: `post_grad_custom_post_pass`" in bisection_words(found)
    assert found.trials > 5


def test_a_wrong_lowering_is_named_with_its_node(runner: Runner) -> None:
    found = bisected(runner, WRONG_LOWERING)
    assert (found.backend, found.subsystem) == ("inductor", "lowerings")
    assert "sin" in found.what


def test_a_difference_in_dynamo_needs_no_pass(runner: Runner) -> None:
    found = bisected(runner, WRONG_CAPTURE)
    assert (found.backend, found.subsystem, found.application) == ("eager", "", None)


def test_a_run_without_a_difference_has_nothing_to_bisect(runner: Runner) -> None:
    found = bisected(runner, RELU)
    assert (found.backend, found.trials) == ("", 1)
    assert found.problem == "compiled once more, the model neither fails nor differs"


def test_another_backend_cannot_be_bisected(runner: Runner) -> None:
    found = bisected(runner, RELU, backend="relu_compile_error_TESTING_ONLY")
    assert found.trials == 0
    assert found.problem.startswith("torch's CompilerBisector replaces the backend")
