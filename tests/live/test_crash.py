"""A crash in generated code is narrowed to the kernel that made it."""

import pytest

from core import CompileJob, Conditions, Model, Runner, open_report
from core.runs.progress import crashed_kernel
from core.views.overview import OutcomeView
from core.views.sharing import issue_of
from tests.support.sample import one_in

pytestmark = pytest.mark.torch
# The code that Inductor generates for one op writes through a null pointer.
CODE = """import torch
from torch._inductor.codegen.cpp import CppVecOverrides

def model(x, w):
    return (x.sin() @ w).relu().softmax(-1)

inputs = (torch.randn(64, 64), torch.randn(64, 64))
CppVecOverrides.{op} = staticmethod(lambda x: f"{{x}}.{op}(); *(volatile int*)0 = 1")
"""
HANGS_IN_PYTHON = """import time
import torch
def model(x):
    y = x.sin()
    if torch.compiler.is_compiling():
        time.sleep(1000)
    return y + 1
inputs = (torch.ones(4),)
"""
# The code that Inductor generates for one op loops forever.
HANGS_IN_A_KERNEL = CODE.format(op="sin").replace("*(volatile int*)0 = 1", "while (*(volatile int*)&in_ptr0 != 1) {{}}")
ABORTS = "import os\nimport torch\ndef model(x):\n    os.abort()\n    return x.sin()\ninputs = (torch.ones(4),)\n"


def plain(markdown: str) -> str:
    """Markdown without its escapes."""
    return markdown.replace("\\", "")


@pytest.mark.parametrize(
    ("op", "kernel"), one_in(2, [("sin", "cpp_fused_sin_0"), ("exp", "cpp_fused__softmax_relu_1")])
)
def test_the_kernel_of_a_planted_crash_is_named(runner: Runner, op: str, kernel: str) -> None:
    # A second thread that crashes ends the process before the first one's stack is written.
    alone = Conditions(threads=1)
    run = runner.wait(runner.submit(CompileJob(Model("code", CODE.format(op=op)), measure=False, conditions=alone)))
    report = open_report(run)
    assert run.status().state == "crashed"
    crashed = crashed_kernel(run, report)
    assert crashed is not None
    assert crashed.name == kernel
    assert f"`{kernel}`" in OutcomeView(run.status(), report, run).crash
    assert f"The worker crashed in the kernel `{kernel}`" in issue_of(run).markdown


def test_a_crash_in_the_users_code_names_no_kernel_but_its_line(runner: Runner) -> None:
    run = runner.wait(runner.submit(CompileJob(Model("code", ABORTS), measure=False)))
    report = open_report(run)
    assert crashed_kernel(run, report) is None
    assert plain(OutcomeView(run.status(), report, run).crash) == "The worker crashed at `model.py:4`."
    assert 'model.py", line 4 in model' in run.output_tail()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (HANGS_IN_PYTHON, "The worker was, when its time limit was over, at `model.py:6`"),
        pytest.param(
            HANGS_IN_A_KERNEL,
            "The worker was, when its time limit was over, in the kernel `cpp_fused_sin_0`",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_run_that_hangs_says_where(runner: Runner, code: str, words: str) -> None:
    job = CompileJob(Model("code", code), measure=False, time_limit_s=12.0, conditions=Conditions(threads=1))
    run = runner.wait(runner.submit(job))
    assert run.status().state == "timed out"
    report = open_report(run)
    assert plain(OutcomeView(run.status(), report, run).crash).startswith(words)
    assert words in issue_of(run).markdown
