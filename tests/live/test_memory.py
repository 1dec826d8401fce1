"""Memory of live runs: what is known by hand is met to the byte, and what compiled takes is what its wrapper makes."""

import pytest

from core import CompileJob, Model, Report, Runner, load_text, open_report
from core.analysis.memory import graph_plans, kernel_at, memory_of, place_of_peak
from core.report import MemoryPlace, MemoryUse
from tests.support.user_code import ended

pytestmark = pytest.mark.torch

MIB = 1024**2
# Sixteen values of 4 MiB each are alive together; then the old sum and the new one, too.
CHAIN = """
import torch

def model(x):
    parts = [x.sin() for _ in range(16)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total

inputs = (torch.randn(1024, 1024),)
"""
TRAINING = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        return self.down(torch.relu(self.up(x))).sum()

model = Model()
inputs = (torch.randn(32, 64),)
"""


def measured(runner: Runner, code: str, *, training: bool) -> tuple[Report, MemoryUse, MemoryUse, int]:
    """The report of a run, both sides, and the bytes that its wrappers make."""
    job = CompileJob(Model("code", code), training=training, measure=False, memory=True)
    run = runner.wait(runner.submit(job))
    report = open_report(run)
    assert ended(run)[0] == "done", (report.error, run.output_tail())
    log = run.log_path()
    assert log is not None
    plans = [
        plan for found in report.compilations for plan in graph_plans(found, lambda payload: load_text(log, payload))
    ]
    made = sum(memory.bytes or 0 for plan in plans for memory in plan.plan.made("allocated", "library"))
    eager, compiled = memory_of(report, "eager"), memory_of(report, "compiled")
    assert eager is not None, report.memory
    assert compiled is not None, report.memory
    return report, eager, compiled, made


def test_a_chain_takes_what_is_known_by_hand_and_fused_its_output_alone(runner: Runner) -> None:
    _, eager, compiled, made = measured(runner, CHAIN, training=False)

    assert (eager.peak_bytes, eager.allocated_bytes, eager.left_bytes) == (18 * 4 * MIB, 31 * 4 * MIB, 4 * MIB)
    assert place_of_peak(eager) == MemoryPlace("aten::add", 8)
    assert (compiled.peak_bytes, compiled.allocated_bytes, compiled.left_bytes) == (4 * MIB,) * 3
    assert (eager.held_bytes, compiled.held_bytes, made) == (4 * MIB,) * 3
    assert eager.resident_bytes == pytest.approx(eager.peak_bytes, rel=0.05)


@pytest.mark.long
def test_a_training_step_takes_what_its_wrappers_make_and_keeps_its_gradients(runner: Runner) -> None:
    report, eager, compiled, made = measured(runner, TRAINING, training=True)

    gradients, output = 4 * (2 * 64 * 256 + 256 + 64), 4
    assert eager.left_bytes == compiled.left_bytes == gradients + output
    assert compiled.allocated_bytes == made
    assert {place.module for place in eager.places} >= {"up", "down"}
    assert all(kernel_at(report, compiled, place) for place in compiled.places)
