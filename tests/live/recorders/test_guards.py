"""What is recorded of guards and of the codes that calls use, on live compilations."""

import pytest

from core import CompileOptions, open_report
from core.analysis.dynamo.recompiles import call_uses, guard_families, guard_rows
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch
# One code for each number, and each of them again; a graph break, so that there are two frames.
AGAIN = """
import torch


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.shift = torch.nn.Linear(4, 4), 2

    def forward(self, x, n):
        x = self.layer(x) + self.shift
        torch._dynamo.graph_break()
        return x * n


model = Scaled()
calls = [(torch.ones(3, 4), n) for n in (1, 2, 1, 2, 2)]
"""


def test_a_run_shows_what_its_guards_cost_and_which_code_each_call_used(run_code: RunCode) -> None:
    run = run_code(AGAIN, compile=CompileOptions(dynamic=False, backend="eager"))
    report = open_report(run)
    first = report.compilations[0]
    families = {share.family: share for share in guard_families(first, guard_rows(report, first))}
    costs = first.guard_costs

    assert report.problems == ()
    assert costs is not None
    assert {"module", "tensor", "global", "other"} <= families.keys()
    assert all(share.check_us is not None and 0 <= share.check_us <= costs.check_us for share in families.values())
    assert [found.name for found in costs.filters if found.name.startswith("skip_guard_on_all")] != []
    assert all(0 < found.kept < found.guards for found in costs.filters)
    assert sum(guard.check_us is not None for guard in first.guards) > len(first.guards) / 2
    assert call_uses(report) == {
        "0/0": ("compiled", "used", "used", "used", "used"),
        "1/0": ("compiled", "", "used", "", ""),
        "1/1": ("", "compiled", "", "used", "used"),
    }
