"""Sweeps in words, rows and chart data; the questions of a job; the menu What if."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core import Axis, CompileJob, Environment, JobError, Limits, Model, SweepStanding, new_sweep
from core.sweep.presets import PRESETS, SEARCH_S
from core.sweep.store import SweepCall, SweepRow
from core.views.sweep import SweepQuestions, SweepView, WhatIfMenu
from core.views.sweep.view import sweep_rows
from tests.support.sweeps import FASTER, SAME, SLOWER, called, timed

MLP = CompileJob(Model("sample", "mlp"))
MACHINE = Environment(torch="2.13.0", backends=("eager", "inductor", "tvm"))
BATCH = Axis("batch", (1, 2, 4, 8))
CALLS = (SweepCall("f32[1]", 0.002, 0.5, 1, how="compiled"),)
BATCH_ROWS = [timed(str(2**power), ratio=ratio) for power, ratio in enumerate((SLOWER, SAME, FASTER, FASTER))]


def view_of(
    rows: Sequence[SweepRow], *axes: Axis, preset: str = "", standing: SweepStanding | None = None
) -> SweepView:
    sweep = new_sweep(MLP, axes or (BATCH,), preset)
    done = sum(row.state == "done" for row in rows)
    standing = standing or SweepStanding("done", done, len(rows) - done, len(rows))
    return SweepView(sweep, tuple(rows), standing, "a_name", lambda: MACHINE)


def preset_view(preset: str, rows: Sequence[SweepRow]) -> SweepView:
    return view_of(rows, *PRESETS[preset].plan(MLP, MACHINE).axes, preset=preset)


def test_a_sweep_is_titled_by_its_answer_then_by_its_question_or_its_failures() -> None:
    assert view_of(BATCH_ROWS).title == ("Compiled becomes faster at a batch between 2 and 4; slower at 1\\.")
    waiting = view_of([SweepRow(("1",))], standing=SweepStanding("going", 0, 0, 4))
    assert (waiting.title, waiting.has_only_failures) == (PRESETS["batch"].question, False)
    failures = [SweepRow((size,), "", "failed", error="IndexError: no") for size in ("1", "2")]
    assert (view_of(failures).title, view_of(failures).has_only_failures) == (
        "All 2 cells failed\\: IndexError\\: no\\.",
        True,
    )


def test_a_cell_without_a_clear_ratio_has_its_claim_if_it_was_timed() -> None:
    untimed = replace(timed("4", ratio=SAME), eager_s=None, compiled_s=None)
    table = view_of([timed("1"), timed("2", ratio=SAME), untimed]).table
    assert [row["eager / compiled"] for row in table] == ["1.82× (1.78–1.86)", "no difference seen", ""]


def test_progress_names_the_current_cells_and_the_time_left() -> None:
    standing = SweepStanding("going", 1, 1, 4, now=(("4", "eager"),), left_s=9.0)
    view = view_of(BATCH_ROWS, standing=standing)
    assert view.progress(8.2) == (
        "1 of 4 cells done · 1 failed · now 4, eager · about 8\\.00 s left, estimated by the cells so far"
    )
    untried = view_of(BATCH_ROWS, standing=replace(standing, untried="8"))
    assert untried.progress(8.2).endswith("at least 8\\.00 s left\\: no cell with 8 has ended yet")
    assert (view.ended_part, view.can_resume, view.can_retry) == (0.5, False, False)


@pytest.mark.parametrize(
    ("standing", "ending", "can_resume", "can_retry"),
    [
        (SweepStanding("done", 4, 0, 4), "4 of 4 cells done.", False, False),
        (SweepStanding("done", 3, 1, 4), "3 of 4 cells done · 1 failed.", False, True),
        (SweepStanding("cancelled", 1, 0, 4), "Cancelled.  1 of 4 cells done.", True, False),
        (SweepStanding("stopped", 1, 0, 4, reason="no room"), "no room 1 of 4 cells done.", True, False),
    ],
)
def test_an_ended_sweep_says_why_and_can_be_resumed_or_retried(
    standing: SweepStanding, ending: str, can_resume: bool, can_retry: bool
) -> None:
    view = view_of(BATCH_ROWS, standing=standing)
    assert (view.ending, view.can_resume, view.can_retry) == (ending, can_resume, can_retry)


def test_a_table_has_the_position_first_and_no_empty_column() -> None:
    row = timed("1", kernels=3, breaks=0)
    failure = SweepRow(("2",), "run", "failed", error="no\nroom")
    ratio = "1.82× (1.78–1.86)"
    assert view_of([row, failure], Axis("seed", (1, 2))).table == [
        {
            **{"seed": "1", "state": "done", "eager / compiled": ratio, "eager": row.eager_s, "compiled": 0.001},
            **{"kernels": 3, "results": "same", "error": ""},
        },
        {
            **{"seed": "2", "state": "failed", "eager / compiled": "", "eager": None, "compiled": None},
            **{"kernels": None, "results": "", "error": "no room"},
        },
    ]


def test_the_list_of_sweeps_names_each_with_its_axes() -> None:
    sweep = replace(new_sweep(MLP, (BATCH,)), created_s=100.0, runs=("a", "b"))
    assert sweep_rows([sweep], lambda _: "mine", 130.0) == [
        {"sweep": "mine", "question": "Batch size", "axes": "batch=1, 2, 4, 8", "cells": "2", "when": "just now"}
    ]


def test_charts_follow_the_axes_and_the_measurements() -> None:
    phases: dict[str, Any] = {"phases_s": {"dynamo": 0.1}}
    memory = replace(timed("1"), eager_peak_bytes=4, compiled_peak_bytes=1)
    seeds = Axis("seed", (1,))
    views = {
        "nothing is done": view_of([SweepRow(("1",))]),
        "over a number": view_of(BATCH_ROWS),
        "first calls": preset_view("calls", [timed("cold", calls=CALLS, **phases), timed("warm", calls=CALLS)]),
        "how calls ran": preset_view("stances", [called("default", 1, 0)]),
        "cells": view_of([timed("1", **phases)], seeds),
        "cells with memory": view_of([replace(memory, **phases)], seeds),
        "two axes": view_of([timed("1", "eager")], seeds, Axis("backend", ("eager",))),
    }
    assert {name: (view.charts, view.measures) for name, view in views.items()} == {
        "nothing is done": ((), ()),
        "over a number": (("ratio", "lines"), ()),
        "first calls": (("spent", "phases"), ()),
        "how calls ran": (("calls",), ()),
        "cells": (("times", "phases"), ()),
        "cells with memory": (("memory", "times"), ()),
        "two axes": ((), ("speedup", "compiled call")),
    }


def test_ratios_over_a_number_are_in_its_order_with_the_crossover() -> None:
    view = view_of(BATCH_ROWS[::-1])
    (series,) = view.series
    assert (view.axis_title, series.name, view.crossover) == ("batch size", "", (2, 4))
    assert [(point.x, point.ratio, point.words) for point in series.points] == [
        (1.0, SLOWER, "0.500× (0.500–0.500)"),
        (2.0, SAME, "1.01× (0.970–1.05)"),
        (4.0, FASTER, "1.82× (1.78–1.86)"),
        (8.0, FASTER, "1.82× (1.78–1.86)"),
    ]
    both = view_of([timed("1", "eager"), timed("2", "tvm")], BATCH, Axis("backend", ("eager", "tvm")))
    assert [series.name for series in both.series] == ["eager", "tvm"]


def test_totals_start_with_the_cost_of_the_first_calls_and_end_at_twice_the_break_even() -> None:
    totals = preset_view("calls", [timed("cold", calls=CALLS), timed("warm", calls=CALLS, ratio=SAME)]).totals
    assert totals is not None
    cold, warm = totals.curves
    assert (cold.pays, warm.pays) == ((593, 626), None)
    assert (cold.cost_s, cold.last_call, warm.last_call) == pytest.approx((0.499, 1252.0, 4990.0))
    assert (totals.calls[0], totals.calls[-1], cold.total_s(10)) == pytest.approx((1.0, 4990.0, 0.509))


def test_a_heat_map_has_a_value_a_text_and_lines_for_each_pair_of_labels() -> None:
    axes = Axis("seed", (1, 2)), Axis("backend", ("eager", "tvm"))
    rows = [timed("1", "eager", ratio=SAME), timed("1", "tvm"), SweepRow(("2", "eager")), SweepRow(("2", "tvm"))]
    heat = view_of(rows, *axes).heat_map("speedup")
    assert (heat.down, heat.across, heat.is_two_sided) == (("1", "2"), ("eager", "tvm"), True)
    assert heat.values == [[0.0, pytest.approx(0.864, abs=1e-3)], [None, None]]
    assert heat.texts == [["none seen", "1.82×"], ["", ""]]
    claim = "1.82× (1.78–1.86): faster"
    assert heat.cell_lines[0][1] == ["1, tvm", "done", claim, "eager 1.82 ms, compiled 1.00 ms"]
    assert heat.cell_lines[1] == [["not made yet"], ["not made yet"]]


def test_calls_are_labelled_by_the_inputs_of_the_cell_with_the_most() -> None:
    view = preset_view("stances", [called("default", 1, 0), called("force_eager", 0, how=["eager"])])
    assert view.call_labels == ["call 0: f32[2]", "call 1: f32[3]"]
    first, second = view.call_cells
    assert first.call_lines(1) == ["default", "call 1: reused, 0 compilations, 100 µs"]
    assert second.call_lines(0) == ["force_eager", "call 0: eager, 0 compilations, 100 µs"]


def questions(base: CompileJob = MLP, *, may_bring_code: bool = True, each_s: float | None = 10.0) -> SweepQuestions:
    return SweepQuestions(base, MACHINE, Limits(), may_bring_code, each_s)


def test_a_preset_tells_its_runs_before_it_is_asked() -> None:
    presets = {question.name: question for question in questions().presets}
    assert list(presets) == list(PRESETS)
    assert {name: presets[name].cost for name in ("backends", "shapes")} == {
        "backends": "3 runs over `backend`, about 30 s, estimated from the last run",
        "shapes": "4 runs, about 40 s, estimated from the last run",
    }
    assert not presets["backends"].needs_confirmation
    sweep = presets["backends"].sweep()
    assert (sweep.title, sweep.preset, sweep.base.model) == (f"Backends: {MLP.title()}", "backends", MLP.model)


def test_a_preset_of_many_runs_asks_for_confirmation() -> None:
    many = Environment(backends=tuple(f"backend_{place}" for place in range(29)))
    backends, *_ = replace(questions(each_s=None), environment=many).presets
    assert backends.needs_confirmation
    assert (backends.confirmation, backends.confirmation_label) == (
        "**Backends**: 29 runs over `backend`, one after the other on a device.",
        "Start 29 runs",
    )


def test_a_sweep_that_grows_asks_for_confirmation_and_has_a_limit() -> None:
    presets = {question.name: question for question in questions(each_s=None).presets}
    assert [name for name, question in presets.items() if question.grows] == ["faster", "sooner", "smaller", "rewrites"]
    assert presets["faster"].confirmation_label.startswith("Start at least ")
    assert presets["faster"].sweep().budget_s == SEARCH_S
    assert presets["modes"].sweep().budget_s is None


def test_a_visitor_without_code_is_offered_the_open_backends() -> None:
    backends, *_ = questions(may_bring_code=False).presets
    assert [axis.values for axis in backends.plan.axes] == [("aot_eager", "eager", "inductor")]


def test_custom_axes_are_counted_and_start_without_a_fix() -> None:
    base = replace(MLP, sweep="an-older-one")
    question = questions(base).custom("backend=eager,inductor\n\nbatch=1,2,4,…,64")
    assert question.cells_sentence == (
        "14 cells, each an ordinary run; one after the other on a device, about 2 min 20 s, "
        "estimated from the last run."
    )
    sweep = question.sweep()
    assert ([axis.field for axis in sweep.axes], sweep.base, sweep.preset) == (["backend", "batch"], MLP, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour=red", "axis colour"),
        ("backend=eager,nosuch", "`nosuch` is no backend here"),
        ("backend=/etc/mine.py:f", "must be a backend that torch lists here, not a file"),
    ],
)
def test_custom_axes_that_make_no_sweep_are_refused(text: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        questions(may_bring_code=False).custom(text)


def what_if(job: CompileJob = MLP) -> WhatIfMenu:
    return WhatIfMenu(job, lambda: ["inductor", "eager"])


def test_what_if_offers_the_other_values_of_each_option() -> None:
    menu = what_if()
    assert all(menu.choices(label) for label in menu.labels)
    assert {label: list(menu.choices(label)) for label in ("backend", "training", "fullgraph")} == {
        "backend": ["eager"],
        "training": ["training", "inference"],
        "fullgraph": ["True"],
    }
    assert menu.choices("backend")["eager"].compile.backend == "eager"


def test_what_if_drops_options_for_a_mode_and_the_mode_for_another_backend() -> None:
    with_options = what_if(MLP.with_settings(options={"epilogue_fusion": False}))
    assert with_options.choices("mode")["max-autotune"].compile.options is None
    with_mode = what_if(MLP.with_settings(mode="max-autotune"))
    assert with_mode.choices("backend")["eager"].compile.mode is None


def test_what_if_takes_typed_fields_with_one_value() -> None:
    job = what_if().changed_job("batch=64\noptions.epilogue_fusion=False")
    assert job is not None
    assert (job.sizes, job.compile.options) == ({"batch": 64}, {"epilogue_fusion": False})
    assert [what_if().changed_job(text) for text in ("", " \n", "fullgraph=False")] == [None, None, None]
    with pytest.raises(JobError, match="give it one value here"):
        what_if().changed_job("batch=1,2")
