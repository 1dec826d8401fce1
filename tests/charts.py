"""python -m tests.charts: write how each chart of literal values is drawn to tests/traces/charts.md.

A test compares the charts with it. Charts of recorded runs are in the text of their pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import plotly.graph_objects as go

from core import Axis, CompileJob, Environment, Model, SweepStanding, new_sweep
from core.analysis.comparison.figures import time_comparison
from core.report import ProgramBuffer
from core.report.model import Report
from core.sweep.presets import PRESETS
from core.sweep.store import SweepCall, SweepRow
from core.views.accelerator.run import AcceleratorView
from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from core.views.compare import CompareView
from core.views.comparison import CompareTimes
from core.views.memory import MemoryView
from core.views.neighbours import LazyBox
from core.views.numerics import ErrorPoint, NodeNumericsView
from core.views.run_history import METRICS, HistoryPoint, HistorySeries, HistoryView
from core.views.sweep import SweepView
from pages.look.charts import plotly_layout, ratio_chart
from pages.parts.accelerator.program import arena_chart, stages_chart
from pages.parts.backends.alternatives import lazy_graph
from pages.parts.backends.panes import executions_chart
from pages.parts.compare.aspects import phase_chart, seconds_chart
from pages.parts.kernel.tool import touched_chart
from pages.parts.performance.memory import curves_chart
from pages.parts.performance.numerics import nodes_chart, results_chart
from pages.parts.run.runs_table import history_chart
from pages.parts.sweep import charts, sweeps
from tests.support.homes import measured_log
from tests.support.logs import report_of
from tests.support.numerics import EXACT, RIGHT, WRONG
from tests.support.pipelines import pipeline_log
from tests.support.places import TRACES
from tests.support.reports.remembered import COMPILED, EAGER
from tests.support.screen_data import chart
from tests.support.sweeps import FASTER, SAME, SLOWER, called, timed

FILE = TRACES / "charts.md"
MLP, MACHINE = CompileJob(Model("sample", "mlp")), Environment(torch="2.13.0")


def written() -> str:
    """Return all charts as Markdown."""
    return "\n\n".join(f"# {name}\n\n{chart({'spec': figure.to_json()})}" for name, figure in figures()) + "\n"


def figures() -> Iterator[tuple[str, go.Figure]]:
    """Yield each chart with its name."""
    layout = go.Figure(layout=plotly_layout("light")["template"]["layout"])
    yield "template", layout
    yield from _of_sweeps()
    yield from _of_comparisons()
    yield from _of_runs()


def _sweep(*rows: SweepRow, axes: tuple[Axis, ...] = (Axis("batch", (1, 2, 4, 64)),), preset: str = "") -> SweepView:
    standing = SweepStanding("done", len(rows), 0, len(rows))
    return SweepView(new_sweep(MLP, axes, preset), rows, standing, "a_name", lambda: MACHINE)


def _of_sweeps() -> Iterator[tuple[str, go.Figure]]:
    sizes = _sweep(*(timed(size, ratio=ratio) for size, ratio in zip("124", (SLOWER, SAME, FASTER), strict=True)))
    yield "sweep: times", charts.times_chart(sizes, "light")
    yield "sweep: ratios", charts.ratio_lines(sizes, "light")
    yield "sweep: seconds", charts.time_lines(sizes, "light")
    phases = (("1", {"dynamo": 0.5, "inductor": 0.25}), ("2", {"dynamo": 0.125}))
    yield (
        "sweep: phases",
        charts.phases_chart(_sweep(*(timed(at, phases_s=seconds) for at, seconds in phases)), "light"),
    )
    calls = PRESETS["calls"].plan(MLP, MACHINE).axes
    costs = zip(("cold", "warm"), (0.5, 0.01), strict=True)
    rows = [timed(at, calls=(SweepCall("f32[1]", 0.002, 0.001 + cost_s),)) for at, cost_s in costs]
    yield "sweep: total time", charts.cumulative_chart(_sweep(*rows, axes=calls, preset="calls"), "light")
    ways = called("1", 1, 0, 1, how=("compiled", "eager", "raised")), called("2", 1, 0)
    yield "sweep: calls", sweeps.calls_chart(_sweep(*ways), "light")
    two = Axis("backend", ("eager", "inductor")), Axis("dynamic", (None, True), ("automatic", "always"))
    cells = (
        ("eager", "automatic", FASTER, 0.0),
        ("eager", "always", SAME, 1.5),
        ("inductor", "automatic", SLOWER, 20.0),
    )
    view = _sweep(*(timed(*at, ratio=ratio, compile_s=seconds) for *at, ratio, seconds in cells), axes=two)
    for measure in ("speedup", "compile time"):
        yield f"sweep: heat map of {measure}", sweeps.heat_map(view, measure, "light")


def _of_comparisons() -> Iterator[tuple[str, go.Figure]]:
    left, right = (report_of(measured_log(seconds)) for seconds in (1e-3, 0.5e-3))
    comparison = time_comparison(left, right, same_eager=True)
    assert comparison is not None
    times = CompareTimes(comparison)
    yield "compare: seconds", seconds_chart(times, "light")
    yield "compare: ratios", ratio_chart(times.ratios, "", "light")
    seconds = {"left": {"dynamo": 0.5, "inductor": 0.25}, "right": {"dynamo": 0.125}}
    phases = cast(CompareView, SimpleNamespace(phase_seconds=seconds))
    yield "compare: phases", phase_chart(phases, "dark")


def _of_runs() -> Iterator[tuple[str, go.Figure]]:
    points = tuple(HistoryPoint(str(at), 86_400.0 * at, "2.13.0", at, (at, at + 1), ("mlp",)) for at in (1, 2))
    series = (HistorySeries("cpu", points), HistorySeries("cuda", (replace(points[0], bounds=None),)))
    view = HistoryView("mlp", METRICS["speedup"], series, (), 0)
    yield "run: history by version", history_chart(view, True, "light")
    errors = [ErrorPoint(at, f"y{at}", accuracy, at) for at, accuracy in enumerate((WRONG, RIGHT, EXACT))]
    yield "numerics: results", results_chart(errors, "light")
    nodes = SimpleNamespace(points=errors, first_to_differ="y0")
    yield "numerics: nodes", nodes_chart(cast(NodeNumericsView, nodes), "y1", "light")
    yield "memory: both calls", curves_chart(MemoryView(_report(memory=(EAGER, COMPILED)), str).curves, "light")
    cells = [[0, 1, 2, 3]] * 2
    yield "kernel: touched elements", touched_chart(cells, ("row", "column"), "light")
    yield "kernel: many touched elements", touched_chart([[0] * 200] * 100, ("row", "column"), "dark")
    boxes = [
        LazyBox("x", 0, 0, ()),
        LazyBox("sin", 1, 0, (0,)),
        LazyBox("cos", 1, 1, (0,)),
        LazyBox("add", 2, 0, (1, 2)),
    ]
    yield "neighbours: lazy graph", lazy_graph(boxes, "light")
    bars = tuple(ExecutionBar(f"call {at}", at, at % 2, 0.002, at == 1, ("2 ms", "f32[2]")) for at in range(3))
    executions = SimpleNamespace(execution_bars=bars, outside_s=0.001, outside_name="3 outside of calls")
    yield "backend: executions", executions_chart(cast(BackendCompilationView, executions), "light")
    report = report_of(pipeline_log())
    segments = AcceleratorView(report, report.compilations[0])
    program = segments.segments[segments.largest].program
    assert program is not None
    sizes: tuple[tuple[int, Any], ...] = ((2_000, 4_000), (1_000, 0), (500, None))
    buffers = tuple(ProgramBuffer(f"t{at}", "temporary", *size, at, at + 1) for at, size in enumerate(sizes))
    yield (
        "accelerator: arena",
        arena_chart(replace(program, segment=replace(program.segment, buffers=buffers)), "light"),
    )
    yield "accelerator: stages", stages_chart({"capture": 0.25, "lower": 0.001}, "light")


def _report(**fields: Any) -> Report:
    return replace(report_of(measured_log(1e-3)), **fields)


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
    sys.exit(0)
