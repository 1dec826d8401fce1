"""Ops for which Inductor calls ATen: rows of the kind fallback, as many as the scheduler has FallbackKernel nodes."""

import pytest

from core import CompileJob, Model, Runner, open_report
from core.analysis.kernels.kernel import FALLBACK
from core.analysis.kernels.ledger import ledger

pytestmark = pytest.mark.torch
CODE = """import torch
def model(x, y):
    return torch.cdist(x, y, p=1.0).relu() + torch.linalg.inv(x[:4, :4] + 9 * torch.eye(4)).sum()
inputs = (torch.randn(32, 8), torch.randn(30, 8))
"""


def test_ops_without_a_lowering_are_fallbacks(runner: Runner) -> None:
    report = open_report(runner.wait(runner.submit(CompileJob(Model("code", CODE), measure=False))))
    (compilation,) = report.compilations
    names = [row.name for row in ledger(report, compilation) if row.kind == FALLBACK]
    assert any("aten._cdist_forward" in name for name in names)
    assert any("linalg_inv_ex" in name for name in names)
    nodes = [node for schedule in compilation.schedules for node in schedule.after if "FallbackKernel" in node.ops]
    assert len(names) == len(nodes)
