"""Advice whose effect is a time: what each changes when it is followed, as a ratio in one run.

Larger batches leave less of a call outside of its kernels; a call that is too small to pay off is faster in eager
mode; on an idle machine, kernel times are reliable.
"""

from __future__ import annotations

from contextlib import closing

from benchmarks.homes import temporary_home
from benchmarks.table import Result, tell
from core import CompileJob, LocalEngine, Model, Report, Runner, Store, open_report
from core.analysis.findings import findings
from core.analysis.kernels.kernel import times_unreliable
from core.analysis.speed import speed, summary

SMALL_BATCH, LARGE_BATCH = 4, 16_384
LAYERS = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 64))
inputs = (torch.randn({}, 64),)
"""
TINY = "import torch\nmodel = lambda x: x + 1\ninputs = (torch.randn(2),)\n"
LEAST_LEFT = 0.5


def measure() -> list[Result]:
    """Run each model as it is and with its advice followed; return what changed."""
    with temporary_home() as home, closing(LocalEngine(Store(home).cache_dir)) as engine:
        runner = Runner(Store(home), engine)
        small, large, tiny = (
            _report(runner, code) for code in (LAYERS.format(SMALL_BATCH), LAYERS.format(LARGE_BATCH), TINY)
        )
    return [_larger_batches(small, large), _eagerly(tiny), _idle(large)]


def _report(runner: Runner, code: str) -> Report:
    report = open_report(runner.wait(runner.submit(CompileJob(Model("code", code)))))
    tell(" | ".join(finding.rule for finding in findings(report)) or "no finding")
    return report


def _larger_batches(small: Report, large: Report) -> Result:
    shares = [_outside(small), _outside(large)]
    what = f"part of a call outside of kernels, batch of {SMALL_BATCH} and of {LARGE_BATCH:,}"
    if None in shares:
        return Result(what, "kernel times are not reliable: the machine is busy")
    before, after = (share or 0.0 for share in shares)
    return Result(what, f"{before:.0%} and {after:.0%}", f"≤ {LEAST_LEFT:g}×", after <= LEAST_LEFT * before)


def _outside(report: Report) -> float | None:
    total = summary(report)
    if total is None or not total.call_s or times_unreliable(report):
        return None
    return 1 - min(1.0, max(total.in_place_s, total.kernels_s) / total.call_s)


def _eagerly(tiny: Report) -> Result:
    measured = speed(tiny.timing)
    assert measured is not None
    ratio = measured.eager_s / measured.compiled_s
    return Result("eager call over compiled call, two numbers", f"{ratio:.2f}×", "≤ 1×", ratio <= 1)


def _idle(report: Report) -> Result:
    reason = times_unreliable(report)
    return Result("kernel times", reason or "reliable", "reliable", not reason)
