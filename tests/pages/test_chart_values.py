"""Charts on literal values: what is drawn where, and with which ticks."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from core.views.compare import CompareTimes, RatioBar
from pages.look.charts import decades, log_ticks
from pages.parts.backends.panes import executions_chart
from pages.parts.compare.aspects import ratio_chart


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1.0, 1_000.0, [1.0, 10.0, 100.0, 1_000.0]),
        (0.9, 8.0, [1.0, 2.0, 5.0]),
        (0.02, 0.06, [0.02, 0.05]),
    ],
)
def test_a_logarithmic_axis_has_at_least_three_ticks_where_there_is_room(
    low: float, high: float, ticks: list[float]
) -> None:
    found = log_ticks(low, high)
    assert set(ticks) <= set(found)
    assert all(low <= tick <= high for tick in found)
    assert len(found) >= 3


def test_ticks_of_decades_have_their_words() -> None:
    ticks = decades(0.1, 100.0, lambda value: f"{value:g} s")
    assert list(cast(Any, ticks["tickvals"])) == [0.1, 1.0, 10.0, 100.0]
    assert list(cast(Any, ticks["ticktext"])) == ["0.1 s", "1 s", "10 s", "100 s"]


def test_an_interval_is_drawn_from_its_lower_to_its_upper_bound() -> None:
    bars = (RatioBar("compiled", 2.0, 1.5, 3.0, True), RatioBar("eager", 1.0, 0.9, 1.2, False))
    figure = ratio_chart(cast(CompareTimes, SimpleNamespace(ratios=bars)), "light")
    drawn = [(trace.x[0], trace.error_x.array[0], trace.error_x.arrayminus[0]) for trace in figure.data]
    assert drawn == [(2.0, 1.0, 0.5), (1.0, pytest.approx(0.2), pytest.approx(0.1))]
    assert [trace.marker.size for trace in figure.data] == [10, 7]
    assert (figure.layout.height, figure.layout.showlegend) == (240, False)


def test_executions_outside_of_calls_are_one_bar_with_their_mean() -> None:
    bars = (ExecutionBar("call 0", 0, 0, 0.002, False, ("2 ms", "f32[2]")),)
    view = SimpleNamespace(execution_bars=bars, outside_s=0.001, outside_name="3 outside of calls")
    figure = executions_chart(cast(BackendCompilationView, view), "light")
    assert [len(trace.x) for trace in figure.data] == [1, 1]
    assert [float(trace.y[0]) for trace in figure.data] == [2.0, 1.0]
    alone = executions_chart(
        cast(BackendCompilationView, SimpleNamespace(execution_bars=bars, outside_s=None, outside_name="")), "light"
    )
    assert len(alone.data) == 1
    assert figure.layout.yaxis.title.text == "time (ms)"
