"""Charts on literal values: what is drawn where, and with which ticks."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.analysis.kernels.ledger import ledger
from core.base.words import log_ticks
from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from core.views.comparison import RatioBar
from core.views.memory import MemoryPlanView
from core.views.numerics import ErrorPoint, NodeNumericsView
from core.views.run_history import METRICS, HistoryPoint, HistorySeries, HistoryView
from pages.look.charts import decades, ratio_chart
from pages.look.palette import INK
from pages.parts.accelerator.program import stages_chart
from pages.parts.backends.panes import executions_chart
from pages.parts.kernels.ledger import treemap
from pages.parts.performance.memory import plan_chart
from pages.parts.performance.numerics import nodes_chart
from pages.parts.run.runs_table import history_chart
from pages.parts.sweep.charts import each_line, height_of, hover_text
from tests.charts import FILE, written
from tests.support.numerics import RIGHT
from tests.support.reports.timed import ITEM, REPORT


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
    figure = ratio_chart(bars, "", "light")
    drawn = [(trace.x[0], trace.error_x.array[0], trace.error_x.arrayminus[0]) for trace in figure.data]
    assert drawn == [(1.0, pytest.approx(0.2), pytest.approx(0.1)), (2.0, 1.0, 0.5)]
    assert [trace.marker.size for trace in figure.data] == [7, 10]
    assert (list(figure.layout.yaxis.ticktext), figure.layout.showlegend) == (["eager", "compiled"], False)
    assert 1.0 in figure.layout.xaxis.tickvals
    assert {"1×", "2×"} <= set(figure.layout.xaxis.ticktext)


def test_a_wide_ratio_axis_has_powers_of_ten_without_zeros_at_their_ends() -> None:
    figure = ratio_chart((RatioBar("compiled", 1.0, 0.02, 30.0, True),), "", "light")
    assert list(figure.layout.xaxis.ticktext) == ["0.1×", "1×", "10×"]


def test_each_bar_of_a_sweep_has_its_name_as_long_as_they_can_be_read() -> None:
    assert (height_of(3), each_line(3)) == (212, {"dtick": 1})
    assert height_of(37) == 703
    assert each_line(200) == {}


def test_samples_of_a_ratio_are_dots_on_its_axis_and_a_doubt_is_in_its_title() -> None:
    figure = ratio_chart((RatioBar("compiled", 2.0, 1.5, 3.0, False, (1.0, 4.0)),), ", not reliable", "light")
    assert [list(trace.x) for trace in figure.data] == [[1.0, 4.0], [2.0]]
    assert figure.layout.xaxis.title.text == "times faster, log; 1× is no difference, not reliable"
    assert {trace.marker.color for trace in figure.data} == {INK["light"]}


def test_a_run_stands_at_its_date_or_at_its_version() -> None:
    point = HistoryPoint("a", 86_400.0, "2.13.0", 2.0, None, ("mlp",))
    view = HistoryView("mlp", METRICS["speedup"], (HistorySeries("cpu", (point,)),), (), 0)
    (dated,), (versioned,) = (history_chart(view, by_torch, "light").data for by_torch in (False, True))
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(86_400.0))
    assert (dated.x, versioned.x, dated.y) == ((date,), ("2.13.0",), (2.0,))


@pytest.mark.parametrize(("nodes", "named"), [(1, True), (12, True), (13, False)])
def test_few_nodes_are_named_below_the_axis_and_many_are_numbered(nodes: int, named: bool) -> None:
    points = tuple(ErrorPoint(at, f"node {at}", RIGHT) for at in range(nodes))
    graph = cast(NodeNumericsView, SimpleNamespace(points=points, first_to_differ=""))
    axis = nodes_chart(graph, "", "light").layout.xaxis
    assert (axis.ticktext, axis.tickformat) == (
        (tuple(point.name for point in points), None) if named else (None, ",d")
    )


def test_executions_outside_of_calls_are_one_bar_with_their_mean() -> None:
    bars = (ExecutionBar("call 7", 7, 0, 0.002, False, ("2 ms", "f32[2]")),)
    view = SimpleNamespace(execution_bars=bars, outside_s=0.001, outside_name="3 outside of calls")
    figure = executions_chart(cast(BackendCompilationView, view), "light")
    assert [tuple(trace.x) for trace in figure.data] == [("7",), ("mean of the others",)]
    assert [float(trace.y[0]) for trace in figure.data] == [2.0, 1.0]
    alone = executions_chart(
        cast(BackendCompilationView, SimpleNamespace(execution_bars=bars, outside_s=None, outside_name="")), "light"
    )
    assert len(alone.data) == 1
    assert figure.layout.yaxis.title.text == "time (ms)"


@pytest.mark.parametrize(("outside_s", "right_end"), [(0.001, 40.5), (None, 39.5)])
def test_many_executions_fill_the_chart_with_room_for_the_mean(outside_s: float | None, right_end: float) -> None:
    bars = tuple(ExecutionBar("call 0", number, 0, 0.002, False, ("2 ms", "")) for number in range(40))
    view = SimpleNamespace(execution_bars=bars, outside_s=outside_s, outside_name="mean of the others")
    figure = executions_chart(cast(BackendCompilationView, view), "light")
    assert figure.layout.xaxis.range == (-0.5, right_end)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("4 ms",), "4 ms"),
        (("batch = 4", "eager 4 ms", "compiled 2 ms"), "<b>batch = 4</b><br>eager 4 ms<br>compiled 2 ms"),
    ],
)
def test_a_hover_text_has_a_bold_first_line_if_more_follow(lines: tuple[str, ...], text: str) -> None:
    assert hover_text(lines) == text


def test_a_cell_of_the_treemap_names_its_kernel_with_its_size_and_share_on_hover() -> None:
    areas = [(row, size, f"{size:g} ms") for row, size in zip(ledger(REPORT, ITEM), (3.0, 1.0), strict=True)]
    (cells,) = treemap(areas, {}, "", "light").data
    assert cells.hovertemplate == "%{customdata[1]}<br>%{customdata[2]}, %{customdata[3]}<extra></extra>"
    assert [tuple(cell[2:]) for cell in cells.customdata] == [("3 ms", "75.0 %"), ("1 ms", "25.0 %")]


def test_stages_are_bars_in_their_order_with_their_seconds_beside_them() -> None:
    figure = stages_chart({"capture": 0.25, "lower <b>": 0.001}, "light")
    (bars,) = figure.data
    assert list(zip(bars.y, bars.x, bars.text, strict=True)) == [
        ("capture", 250.0, "250 ms"),
        ("lower &lt;b&gt;", 1.0, "1.00 ms"),
    ]
    assert (bars.hoverinfo, figure.layout.showlegend, figure.layout.yaxis.autorange) == ("skip", False, "reversed")
    assert (figure.layout.xaxis.title.text, figure.layout.xaxis.range) == ("time, measured once (ms)", (0, 300.0))


@pytest.mark.parametrize(
    ("steps", "ticks"), [(3, (1, 2, 3)), (20, tuple(range(1, 21))), (41, tuple(range(1, 42, 3))), (0, ())]
)
def test_kernel_calls_are_numbered_by_at_most_20_ticks(steps: int, ticks: tuple[int, ...]) -> None:
    plan = SimpleNamespace(live_bytes=[1_000] * steps, blocks=(), peak=None)
    assert plan_chart(cast(MemoryPlanView, plan), {}, "", "light").layout.xaxis.tickvals == ticks


def test_charts_are_drawn_as_recorded() -> None:
    assert written() == FILE.read_text(encoding="utf-8"), "if they should be so, run `make screens`"
