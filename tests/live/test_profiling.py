"""A profile that a run records of its compiled calls, joined to the run's own log."""

import pytest

from core import CompileJob, Conditions, Model, Runner, open_report
from core.runs.stored import open_profile, profile_path
from core.views.timeline import failed_profile
from tests.support.user_code import ended

pytestmark = pytest.mark.torch

TRAINING = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        x = torch.relu(self.up(x))
        torch._dynamo.graph_break()
        return torch.tanh(self.down(x)).sum()

model = Model()
training = True

def calls():
    yield (torch.randn(4, 8),)
    yield (torch.randn(6, 8),)
"""


@pytest.mark.long
def test_each_kernel_slice_of_a_recorded_profile_has_its_kernel_and_the_log_has_no_more_compilations(
    runner: Runner,
) -> None:
    plain, profiled = (CompileJob(Model("code", TRAINING), measure=False, profile=asked) for asked in (False, True))
    run, other = (runner.wait(runner.submit(job)) for job in (profiled, plain))
    report, compared = open_report(run), open_report(other)
    assert ended(run)[0] == "done", (report.error, run.output_tail())
    joined = open_profile(run, report)
    assert joined is not None
    assert joined.profile.problems == {}
    assert joined.joined == joined.compiled
    kernels = {kernel.id: kernel.name for compilation in report.compilations for kernel in compilation.kernels}
    names = [kernels[piece.kernel] for piece in joined.joined]
    assert {name for name in names if name.startswith("cpp_")}, names
    assert {piece.compilation for piece in joined.joined} == {"0/1", "1/1"}, "each call ran the code for any size"
    calls = [piece.name for piece in joined.profile.slices if piece.name.startswith("call ")]
    assert calls == ["call 0"] * 3 + ["call 1"] * 3
    assert [found.id for found in report.compilations] == [found.id for found in compared.compilations]
    assert report.counters is not None
    assert compared.counters is not None
    assert report.counters.dynamo["frames"] == compared.counters.dynamo["frames"]
    assert profile_path(other).exists() is False


def test_a_profile_that_cannot_be_recorded_is_a_note_with_the_reason(runner: Runner) -> None:
    code = "import torch\n\nturn = 0\n\ndef model(x):\n    return x.sin()\n\ndef calls():\n    global turn\n"
    code += "    turn += 1\n    if turn > 2:\n        raise ValueError('no third time')\n    yield (torch.ones(4),)\n"
    job = CompileJob(Model("code", code), measure=False, profile=True, conditions=Conditions(threads=1))
    run = runner.wait(runner.submit(job))
    report = open_report(run)
    assert ended(run)[0] == "done", (report.error, run.output_tail())
    assert failed_profile(report) == "No profile was recorded: ValueError: no third time"
    assert profile_path(run).exists() is False


def test_a_run_whose_last_call_was_refused_says_that_it_has_no_profile(runner: Runner) -> None:
    code = "import torch\n\ndef model(x):\n    return x.sin()\n\ndef calls():\n    yield (torch.ones(4),)\n"
    code += "    yield (torch.ones(5),)\n"
    stance = Conditions(stance="fail_on_recompile", primed=True)
    job = CompileJob(Model("code", code), measure=False, profile=True, conditions=stance)
    run = runner.wait(runner.submit(job))
    report = open_report(run)
    assert ended(run)[0] == "done", (report.error, run.output_tail())
    assert failed_profile(report).startswith("No profile was recorded: the last call was not made compiled")
