"""Charts of a sweep at the edges of their axes."""

import pytest

from core import CompileJob, Environment, Model, SweepStanding, new_sweep
from core.analysis.interval import Interval
from core.sweep.presets import PRESETS
from core.sweep.store import SweepCall, SweepRow
from core.views.sweep import SweepView
from pages.parts.sweep.charts import SPANS, cumulative_chart, times_chart
from tests.support.sweeps import timed


def view_of(preset: str, rows: tuple[SweepRow, ...]) -> SweepView:
    """A sweep of that preset that ended with these rows."""
    job, machine = CompileJob(Model("sample", "mlp")), Environment(torch="2.13.0")
    sweep = new_sweep(job, PRESETS[preset].plan(job, machine).axes, preset)
    return SweepView(sweep, rows, SweepStanding("done", len(rows), 0, len(rows)), "a_name", lambda: machine)


@pytest.mark.parametrize("costs_s", [(0.0,), (0.5, 0.0)])
def test_total_time_starts_above_zero_if_the_first_calls_cost_nothing(costs_s: tuple[float, ...]) -> None:
    cells = zip(("cold", "warm"), costs_s, strict=False)
    rows = tuple(timed(at, calls=(SweepCall("f32[1]", 0.002, 0.001 + cost_s),)) for at, cost_s in cells)
    figure = cumulative_chart(view_of("calls", rows), "light")

    drawn = [value for trace in figure.data for value in trace.y]
    ticks = figure.layout.yaxis.tickvals
    assert min(ticks) > 0
    assert min(ticks) <= min(drawn) * 10
    assert all(band.x0 > 0 for band in figure.layout.shapes)


@pytest.mark.parametrize(("slowest_s", "axis"), [(0.002 * SPANS, "linear"), (0.0021 * SPANS, "log")])
def test_times_that_span_decades_are_on_a_logarithmic_axis(slowest_s: float, axis: str) -> None:
    rows = tuple(
        timed(at, ratio=Interval(1.0, 1.0, 1.0), compiled_s=s)
        for at, s in (("inference", 0.002), ("training", slowest_s))
    )
    assert times_chart(view_of("training", rows), "light").layout.xaxis.type == axis
