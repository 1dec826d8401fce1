"""Total time over calls in a sweep with a second axis."""

import pytest

from core import Axis, CompileJob, Environment, Model, SweepStanding, new_sweep
from core.sweep.store import SweepCall
from core.views.sweep import SweepView
from tests.support.sweeps import timed


def test_each_cell_starts_with_the_cost_of_its_own_first_calls() -> None:
    axes = Axis("caches", ("cold", "warm")), Axis("seed", (1, 2))
    costs_s = {("cold", "1"): 0.5, ("cold", "2"): 0.7, ("warm", "1"): 0.1, ("warm", "2"): 0.0}
    rows = tuple(timed(*at, calls=(SweepCall("f32[1]", 0.002, 0.001 + cost_s),)) for at, cost_s in costs_s.items())
    sweep = new_sweep(CompileJob(Model("sample", "mlp")), axes, "calls")
    totals = SweepView(sweep, rows, SweepStanding("done", 4, 0, 4), "a_name", Environment).totals
    assert totals is not None
    assert {curve.cell.row.at: curve.cost_s for curve in totals.curves} == pytest.approx(costs_s)
