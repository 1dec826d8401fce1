"""Kernels timed in one short live run: every call has a time, its FLOPs are torch's, and its bytes those that must
move.
"""

import re

import pytest
import torch

from core import CompileOptions, Conditions, Report, open_report
from core.analysis.kernels.kernel import kernel_times, kernels_disturbed
from core.analysis.kernels.ledger import LedgerRow, ledger
from core.analysis.speed import summary
from core.worker.measuring.kernel_times import Copies, _measured
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

CODE = """
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
        self.register_buffer("calls", torch.zeros(64))

    def forward(self, x):
        self.calls.add_(1)
        return (self.down(torch.nn.functional.gelu(self.up(x))) + self.calls).softmax(-1)

model = MLP().eval()
inputs = (torch.randn(128, 64),)
with FlopCounterMode(display=False) as counter:
    model(*inputs)
print("FLOPs:", counter.get_total_flops())
"""
TRAINING = (
    "import torch\nfrom torch import nn\nmodel = nn.Sequential(nn.Linear(64, 64), nn.GELU())\ninputs = "
    "(torch.randn(32, 64),)\n"
)


# More of them would spin while they wait for each other.
ONE_THREAD = Conditions(threads=1)


def rows(report: Report) -> list[LedgerRow]:
    return [row for compilation in report.compilations for row in ledger(report, compilation)]


def test_every_kernel_call_of_a_run_is_timed_and_its_flops_are_torchs(run_code: RunCode) -> None:
    run = run_code(CODE, measure=True, conditions=ONE_THREAD)
    report = open_report(run)

    assert (report.problems, report.unparsed.keys() & {"artifact:compileboard_kernel_times"}) == ((), set())
    found = rows(report)
    assert {row.name.split("_")[0] for row in found} == {"cpp", "extern"}
    assert all(row.measured and row.time_s and row.in_place_s and row.calls == 1 for row in found)
    assert report.roofline is not None
    judged = kernels_disturbed(report) == ""
    assert all(row.allowed_s and (row.fraction is not None) == judged for row in found)
    assert {"float32"} <= report.roofline.flops_s.keys()
    counted = {what: int(number) for what, number in re.findall(r"(FLOPs): (\d+)", run.output_tail())}
    assert sum(row.flops or 0 for row in found if not row.flops_estimated) == counted["FLOPs"]
    # Two products with their bias, gelu and softmax over (128, 64) and (128, 256) floats, and 64 numbers that count
    # calls.
    products, between = 2 * (65_536 + 32_768 + 131_072) + 1_024 + 256, 2 * 131_072 + 2 * 32_768 + 256
    assert sum(row.bytes_moved or 0 for row in found) == products + between + 2 * 256
    whole = summary(report)
    assert whole is not None
    assert whole.steady_s is not None
    levels = [seconds for seconds in (whole.kernels_s, whole.call_s, whole.steady_s) if seconds is not None]
    assert whole.kernels_s + sum(part.seconds for part in whole.rest) == pytest.approx(max(levels))
    assert all(part.seconds > 0 for part in whole.rest)
    timing, load = report.timing, report.kernel_load
    assert timing is not None
    assert timing.load is not None
    assert load is not None
    assert all(0 <= (share or 0) <= 1 for item in (timing.load, load) for share in (item.others, item.waited))
    assert timing.stopped in ("narrow enough", "limit")
    assert len(timing.sides["eager"]) == len(timing.sides["compiled"]) >= 8


@pytest.mark.long
def test_kernels_of_the_backward_are_timed_too(run_code: RunCode) -> None:
    report = open_report(run_code(TRAINING, measure=True, training=True, conditions=ONE_THREAD))

    assert {row.direction for row in rows(report) if row.measured} == {"forward", "backward"}
    times = [time for compilation in report.compilations for time in compilation.wrapper_times]
    assert [time.direction for time in times] == ["forward", "backward"]


def test_a_run_that_does_not_measure_times_no_kernel(run_code: RunCode) -> None:
    report = open_report(run_code(TRAINING))

    assert (report.roofline, report.untimed) == (None, "")
    assert [kernel_times(compilation) for compilation in report.compilations] == [[]]


@pytest.mark.long
def test_without_generated_code_the_record_says_why_nothing_was_timed(run_code: RunCode) -> None:
    report = open_report(run_code(TRAINING, measure=True, compile=CompileOptions(backend="eager")))

    assert report.untimed.startswith("the last call used no output code of Inductor in Python")


def test_copies_of_arguments_share_memory_as_the_originals_do_and_none_with_them() -> None:
    base = torch.arange(6.0)
    values = {"whole": base, "view": base[2:4], "transposed": base.view(2, 3).t(), "number": 3}
    copies = Copies(values)
    copied = copies.values
    copied["whole"].add_(1)
    assert torch.equal(base, torch.arange(6.0))
    assert copied["view"].tolist() == [3.0, 4.0]
    assert copied["transposed"].stride() == values["transposed"].stride()
    assert copied["number"] == 3
    copies.note_changes()
    copies.restore()
    assert torch.equal(copied["whole"], base)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")
def test_kernels_of_a_call_that_takes_seconds_are_timed_as_far_as_the_runs_time_goes() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: (x @ x).softmax(-1))
    x = torch.randn(64, 64)
    compiled(x)
    call_s, (times,) = _measured(lambda: compiled(x), 2.0, "cpu", 300.0)
    assert len(call_s) == len(times.wrapper_s) == 1
    assert all(len(timed.in_place_s) == 1 and timed.samples_s for timed in times.kernels.values())
    call_s, (times,) = _measured(lambda: compiled(x), 2.0, "cpu", 3.0)
    assert all(len(timed.in_place_s) == 1 for timed in times.kernels.values())
    with pytest.raises(TimeoutError, match="^one call takes 2.00 s, and the run's time limit leaves 1.00 s"):
        _measured(lambda: compiled(x), 2.0, "cpu", 1.0)
