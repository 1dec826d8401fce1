"""Advice about refused fusions, followed on models that no rule was written for, leaves one kernel and less traffic."""

import pytest

from core import CompileJob, LocalEngine, Model, Report, Runner, Store, open_report
from core.analysis.findings import Finding, findings
from tests.support.foreign_models import HEAD

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("targets")]

CONVOLUTION = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(64, 64, 4, padding=3)
    def forward(self, x):
        y = self.conv(x)
        {}
model = Block().eval()
inputs = (R(16, 64, 512),)
"""
# A block, and the same with the work done on the whole and cut last.
FOLLOWED = {
    "a causal convolution": (
        "return nn.functional.silu(y[..., :-3]), torch.tanh(y)",
        "return nn.functional.silu(y)[..., :-3], torch.tanh(y)",
    ),
    "a padded branch": (
        "return nn.functional.pad(torch.relu(y), (1, 1)), torch.tanh(y)",
        "y = nn.functional.pad(y, (1, 1)); return torch.relu(y), torch.tanh(y)[..., 1:-1]",
    ),
}
# What no cut of the work spares: a repeat reads less than it writes, and a pool reads windows.
WITHHELD = {
    "a repeat": "return torch.relu(y).repeat(1, 1, 2), torch.tanh(y)",
    "an upsampling": "return y * 2, nn.functional.interpolate(torch.relu(y), scale_factor=2)",
    "a pool": "y = torch.relu(y); return nn.functional.max_pool1d(y, 3, 1, 1), y",
}


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("fusion")), engine)


def recorded(here: Runner, body: str) -> Report:
    """The report of a block for a GPU, whose scheduler makes a kernel of each node."""
    run = here.wait(here.submit(CompileJob(Model("code", HEAD + CONVOLUTION.format(body)), target="h100")))
    assert run.status().state == "done", run.output_tail()
    return open_report(run)


def refused(report: Report) -> list[Finding]:
    return [finding for finding in findings(report) if finding.rule == "missed fusion"]


def traffic(report: Report) -> int:
    return sum(schedule.bytes_after or 0 for item in report.compilations for schedule in item.schedules)


@pytest.mark.long
@pytest.mark.parametrize("bodies", FOLLOWED.values(), ids=FOLLOWED)
def test_work_on_the_whole_that_is_cut_last_is_one_kernel_with_less_traffic(
    here: Runner, bodies: tuple[str, str]
) -> None:
    before, after = (recorded(here, body) for body in bodies)
    assert ["slice last" in found.advice for found in refused(before)] == [True]
    assert refused(after) == []
    assert traffic(after) < 0.9 * traffic(before)


@pytest.mark.long
@pytest.mark.parametrize("body", WITHHELD.values(), ids=WITHHELD)
def test_two_kernels_that_no_cut_brings_together_are_no_finding(here: Runner, body: str) -> None:
    assert refused(recorded(here, body)) == []
