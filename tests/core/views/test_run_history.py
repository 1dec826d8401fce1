"""Runs of one model over time: one number a run, apart where runs are not comparable."""

from pathlib import Path
from typing import Any

import pytest

from core import Limits, Run, Status
from core.analysis.interval import Interval
from core.analysis.speed import Speed
from core.analysis.verdict import Summary
from core.job import GIB
from core.runs.index.entry import IndexedRun, Usage
from core.views import run_history
from core.views.run_history import HistoryView, UsageView
from core.views.runs import ListedRun


def speed(middle: float) -> Speed:
    return Speed(2.0, 1.0, (2.0, 2.0), (1.0, 1.0), Interval(middle * 0.9, middle, middle * 1.1), 30, 4, 10)


def listed(run_id: str, created_s: float, summary: Summary | None = None, **fields: Any) -> ListedRun:
    entry = IndexedRun(run_id, Status("done", created_s, title="mlp"), summary=summary, **fields)
    return ListedRun(Run(run_id, Path(run_id)), entry)


H100 = Summary(speed=speed(2.0), torch="2.13.0+cu130", device="NVIDIA H100", inputs="f32[8]", breaks=1)


def test_points_are_in_the_order_of_time_with_value_interval_and_version() -> None:
    faster = Summary(speed=speed(3.0), torch="2.14.0", device="NVIDIA H100", inputs="f32[8]")
    view = HistoryView.of("mlp", "speedup", [listed("b", 2.0, faster), listed("a", 1.0, H100)], 2)
    (series,) = view.series
    assert series.label == "NVIDIA H100 · f32[8]"
    assert [(point.run, point.torch, point.value) for point in series.points] == [
        ("a", "2.13.0", 2.0),
        ("b", "2.14.0", 3.0),
    ]
    assert series.points[0].bounds == pytest.approx((1.8, 2.2))
    assert series.points[0].lines[:3] == ("mlp", "Speedup: 2.00× (1.80–2.20)", "torch 2.13.0")
    assert view.title == "Speedup of `mlp`: 3.00× (2.70–3.30) in the latest run, 2.00× (1.80–2.20) in the first"
    assert view.notes == ()


def test_runs_that_differ_in_device_inputs_or_options_are_not_joined() -> None:
    others = (
        Summary(speed=speed(2.0), device="NVIDIA A100", inputs="f32[8]"),
        Summary(speed=speed(2.0), device="NVIDIA H100", inputs="f32[16]"),
    )
    runs = [listed(str(place), float(place), summary) for place, summary in enumerate((H100, H100, *others))]
    runs.append(listed("tuned", 9.0, H100, settings=("mode='max-autotune'",)))
    view = HistoryView.of("mlp", "speedup", runs, 5)
    assert [(series.label, len(series.points)) for series in view.series] == [
        ("NVIDIA H100 · f32[8]", 2),
        ("NVIDIA A100 · f32[8]", 1),
        ("NVIDIA H100 · f32[16]", 1),
        ("NVIDIA H100 · f32[8] · mode='max-autotune'", 1),
    ]
    assert view.notes[0].startswith("Runs with different devices, inputs or options are separate series")


def test_what_is_not_drawn_is_counted() -> None:
    runs = [listed(f"{place}", 1.0, Summary(device=f"device {place}", breaks=2)) for place in range(10)]
    view = HistoryView.of("mlp", "breaks", [*runs, listed("unread", 1.0)], 100)
    assert len(view.series) == run_history.MOST_SERIES
    assert view.notes[1:] == (
        "2 smaller series (2 runs) not drawn.",
        "The report of 1 run was not read yet; open a run to read it.",
        "89 older runs not drawn.",
    )


def test_a_number_that_no_run_has_is_said_to_be_not_recorded() -> None:
    view = HistoryView.of("mlp", "speedup", [listed("a", 1.0, Summary())], 1)
    assert (view.title, view.series) == ("Speedup of `mlp` was not recorded", ())


@pytest.mark.parametrize(
    ("metric", "value"), [("breaks", 1.0), ("recompiles", 0.0), ("compile", 5.0), ("kernels", 3.0)]
)
def test_each_number_is_that_of_the_summary(metric: str, value: float) -> None:
    summary = Summary(breaks=1, kernels=3, compile_s=5.0)
    (series,) = HistoryView.of("mlp", metric, [listed("a", 1.0, summary)], 1).series
    assert (series.points[0].value, series.points[0].bounds, series.label) == (value, None, run_history.UNKNOWN)


def test_the_use_of_limits_names_each_limit_and_warns_near_its_end() -> None:
    limits, usage = Limits(runs=10, visitor_bytes=2 * GIB, store_bytes=None), Usage(runs=7, visitor_bytes=GIB)
    named = UsageView(limits, usage, is_named=True)
    assert named.words == "Used here: 7 of 10 runs of yours · 1 GiB of 2 GiB for your runs."
    assert not named.is_nearly_used
    assert UsageView(limits, usage, is_named=False).words == ""
    full = UsageView(limits, Usage(runs=8), is_named=True)
    assert full.is_nearly_used
    assert full.words.endswith("nothing new is started or opened; what is here stays until it is deleted.")


def test_a_model_is_labelled_with_its_number_of_runs() -> None:
    assert run_history.model_labels({"mlp": 2, "": 1}) == {"mlp": "mlp · 2 runs", "": "no title · 1 run"}
