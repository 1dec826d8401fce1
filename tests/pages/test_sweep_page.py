"""The page Sweep: presets in one click, the answer as its title, progress, pictures and a table, within 300 ms."""

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core import Axis, CompileJob, Environment, Model, Run, Store, Sweep, new_sweep
from core.base.words import log_ticks
from core.sweep.presets import PRESETS
from core.sweep.store import SweepCall, SweepRow, SweepStore
from pages import menu
from pages.look.charts import decades
from pages.parts.sweep import sweeps
from pages.session import actions, server
from pages.session.runs import is_as_shown, open_sweep
from tests.support.apps import assert_sound, opened, read_titles, titles, words
from tests.support.homes import add_run, job_of, keeper, measured_log
from tests.support.sweeps import FASTER, SAME, SLOWER, add_sweep, called, timed
from tests.support.work import calls_of

MLP = CompileJob(Model("sample", "mlp"))
# Half as many again as there are.
MAX_CALLS = 150_000
CALLS = (SweepCall("f32[1]", 0.002, 0.5),)


@pytest.fixture
def started(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sweep]:
    """The sweeps that the page would have begun, on a machine with three backends."""
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", backends=("eager", "inductor")))
    found: list[Sweep] = []

    def start(sweep: Sweep) -> Sweep:
        found.append(sweep)
        return sweep

    monkeypatch.setattr(actions, "start_sweep", start)
    monkeypatch.setattr(sweeps, "show_sweep", lambda *_: None)
    return found


def test_each_preset_is_asked_of_a_sample_in_one_click(started: list[Sweep]) -> None:
    app = opened(menu.SWEEP.script)
    assert_sound(app)
    assert titles(app) == ["Run a job with several options, and compare"]
    assert [header.value for header in app.header][-1] == "Sweeps so far"
    at_once = [name for name, preset in PRESETS.items() if preset.more is None]
    for name in at_once:
        app.button(f"ask-{name}").click().run()
    assert_sound(app)
    assert [sweep.preset for sweep in started] == at_once
    assert {sweep.base.model.value for sweep in started} == {"sin_cos"}


def test_a_sweep_that_grows_is_confirmed(started: list[Sweep]) -> None:
    app = opened(menu.SWEEP.script)
    app.button("ask-faster").click().run()
    assert started == []
    assert "at least" in app.button("confirm-sweep").label


def test_the_shown_run_is_asked_first_from_the_page_and_from_its_overview(
    started: list[Sweep], empty_home: Path
) -> None:
    run = add_run(empty_home, "measured", measured_log(), job={**job_of("transformer_block"), "dtype": "bfloat16"})
    opened(menu.SWEEP.script, run.id).button("ask-modes").click().run()
    opened(menu.OVERVIEW.script, run.id).button("overview-backends").click().run()
    assert [(sweep.preset, sweep.base.model.value, sweep.base.dtype) for sweep in started] == [
        ("modes", "transformer_block", "bfloat16"),
        ("backends", "transformer_block", "bfloat16"),
    ]


def test_axes_of_ones_own_are_counted_before_they_are_started_and_told_where_they_are_wrong(
    started: list[Sweep],
) -> None:
    app = opened(menu.SWEEP.script)
    app.text_area("axes").set_value("backend=eager,inductor\nbatch=1,2,4,…,64").run()
    assert "14 cells, each an ordinary run" in words(app)
    app.button("start-own").click().run()
    assert [axis.field for axis in started[0].axes] == ["backend", "batch"]
    app.text_area("axes").set_value("colour=red").run()
    assert_sound(app)
    assert "axis colour" in app.error[0].value


SWEEPS: dict[str, tuple[str, Sequence[SweepRow], str]] = {
    "lines": (
        "batch",
        [timed(str(2**power), ratio=ratio) for power, ratio in enumerate((SLOWER, SAME, FASTER, FASTER))],
        "Compiled becomes faster at a batch between 2 and 4; slower at 1.",
    ),
    "cumulative": (
        "calls",
        [timed("cold", calls=CALLS), timed("warm", calls=CALLS)],
        "Break-even: after 590–630 calls with cold caches, after 590–630 calls with warm caches.",
    ),
    "calls": (
        "stances",
        [called("default", 1, 1, 0), called("force_eager", 0, 0, 0, how=["eager"] * 3)],
        "3 calls of other sizes compile twice with default; nothing with force_eager.",
    ),
    "bars": (
        "backends",
        [
            timed("aot_eager", ratio=SAME, compiled_s=0.002),
            timed("eager", ratio=SAME, compiled_s=0.002, phases_s={"dynamo": 0.1}),
            timed("inductor", phases_s={"inductor": 1.0}),
        ],
        "3 of 3 backends run this model here; all results are eager's; inductor is the fastest, "
        "1.82× (1.78–1.86) faster than eager.",
    ),
    "memory": (
        "memory",
        [replace(timed("inference"), eager_peak_bytes=4_000_000, compiled_peak_bytes=1_000_000)],
        "At its peak, inference needs 1.00 MB compiled and 4.00 MB eagerly, 75.0 % less.",
    ),
}


@pytest.mark.parametrize("name", list(SWEEPS))
def test_a_sweep_is_shown_with_its_answer_its_pictures_and_its_table(empty_home: Path, name: str) -> None:
    preset, rows, sentence = SWEEPS[name]
    plan = PRESETS[preset].plan(MLP, Environment())
    sweep = add_sweep(empty_home, new_sweep(plan.base, plan.axes, preset), rows)
    app = opened(menu.SWEEP.script, sweep=sweep.id)
    assert_sound(app)
    (title,) = (each.replace("\\", "") for each in read_titles(app))
    assert sentence.startswith(title)
    assert title == sentence.removesuffix(".") or sentence in words(app).replace("\\", "")
    assert app.get("plotly_chart")
    assert len(app.dataframe[0].value) >= len(rows)
    assert f"{len(rows)} of" in words(app)


def test_two_axes_are_a_heat_map_of_what_the_visitor_chooses(empty_home: Path) -> None:
    axes = Axis("backend", ("eager", "inductor")), Axis("dynamic", (None, True), ("automatic", "always"))
    rows = [timed(one, other, compile_s=0.5) for one in ("eager", "inductor") for other in ("automatic", "always")]
    sweep = add_sweep(empty_home, new_sweep(MLP, axes), rows)
    app = opened(menu.SWEEP.script, sweep=sweep.id, measure="compile time")
    assert_sound(app)
    assert app.query_params["measure"] == "compile time"
    assert len(app.get("plotly_chart")) == 1
    assert "4 of 4 cells done" in words(app)


def going(home: Path) -> tuple[Sweep, Run]:
    """A sweep that another process goes through, with one cell done and the run of the other waiting."""
    sweep = add_sweep(home, new_sweep(MLP, (Axis("batch", (1, 2)),)), [timed("1")], going=True)
    run = add_run(home, "cell", None, job=job_of("transformer_block"), **{**keeper(), "state": "queued"})
    sweep = replace(sweep, runs=(*sweep.runs, run.id))
    SweepStore(Store(home)).write(sweep)
    return sweep, run


CHANGES: dict[str, Callable[[SweepStore, Sweep, Run], object]] = {
    "its run has begun": lambda _, __, run: run.write_status(replace(run.status(), state="running")),
    "its run is gone": lambda _, __, run: shutil.rmtree(run.path),
    "a cell has another run": lambda store, sweep, _: store.write(replace(sweep, runs=sweep.runs[:1])),
    "nobody goes through it": lambda store, sweep, _: store.write(replace(sweep, handle="")),
    "it is to stop": lambda store, sweep, _: store.request_stop(sweep.id),
    "it has another name": lambda store, sweep, _: store.rename(sweep.id, "mine"),
    "it is gone": lambda store, sweep, _: store.delete(sweep.id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_sweep_that_goes_on_is_drawn_anew_when_something_has_changed_and_not_before(
    empty_home: Path, change: str
) -> None:
    sweep, run = going(empty_home)
    here = open_sweep(sweep.id)
    assert here is not None
    assert (here.standing.state, is_as_shown(here)) == ("going", True)
    CHANGES[change](SweepStore(Store(empty_home)), sweep, run)
    assert not is_as_shown(here)


def test_a_sweep_that_goes_on_says_how_far_it_is(empty_home: Path) -> None:
    sweep, _ = going(empty_home)
    app = opened(menu.SWEEP.script, sweep=sweep.id)
    assert_sound(app)
    progress = [item.proto.text for item in app.get("progress")]
    assert progress == ["1 of 2 cells done · Waiting in the queue of another server…"]
    assert [(button.key, button.disabled) for button in app.button] == [("cancel-sweep", False)]
    SweepStore(Store(empty_home)).request_stop(sweep.id)
    assert opened(menu.SWEEP.script, sweep=sweep.id).button(key="cancel-sweep").disabled


def test_one_sweep_that_is_ticked_can_be_named(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PRESETS["memory"].plan(MLP, Environment())
    sweep = add_sweep(empty_home, new_sweep(plan.base, plan.axes, "memory"), [timed("inference")])
    monkeypatch.setattr(sweeps, "opened_or_ticked", lambda _, rows, *__, **___: (None, list(rows)))
    app = opened(menu.SWEEP.script)
    app.text_input(f"name-{sweep.id}").set_value("before the change").run()
    assert_sound(app)
    assert SweepStore(Store(empty_home)).name(sweep.id) == "before the change"


def test_a_sweep_that_is_gone_is_said_to_be(empty_home: Path) -> None:
    app = opened(menu.SWEEP.script, sweep="20260101-000000-gone-0000")
    assert_sound(app)
    assert "There is no such sweep here" in words(app)
    assert titles(app) == ["Run a job with several options, and compare"]


def test_two_hundred_cells_are_answered_with_bounded_work(empty_home: Path) -> None:
    names = tuple(f"pass_{place}" for place in range(30))
    axes = Axis("seed", tuple(range(20))), Axis("batch", tuple(range(1, 11)))
    rows = [
        timed(str(seed), str(batch), kernel_names=names, passes=names, calls=CALLS * 4, compile_s=0.5)
        for seed in range(20)
        for batch in range(1, 11)
    ][:150]
    sweep = add_sweep(empty_home, new_sweep(MLP, axes), rows)
    app = opened(menu.SWEEP.script, sweep=sweep.id)
    assert_sound(app)
    calls = calls_of(app.run)
    assert calls < MAX_CALLS
    assert "150 of 200 cells done" in words(app)


def test_a_sweep_of_many_runs_tells_its_minutes_and_is_confirmed_before_it_starts(
    started: list[Sweep], empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(f"backend_{place}" for place in range(29))
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", backends=many))
    run = add_run(empty_home, "measured", measured_log(), job=job_of("transformer_block"))
    status = run.status()
    title = CompileJob(Model("sample", "transformer_block")).title()
    run.write_status(replace(status, title=title, started_s=1_767_225_600.0, ended_s=1_767_225_610.0))
    app = opened(menu.SWEEP.script, run.id)
    assert "runs over `backend`, about 4 min 50 s, estimated from the last run" in words(app)
    app.button("ask-backends").click().run()
    assert_sound(app)
    assert started == []
    assert "29 runs over `backend`, about 4 min 50 s, estimated from the last run, one after the other" in words(app)
    assert app.button("confirm-sweep").label == "Start 29 runs"


def test_a_sweep_of_which_all_failed_is_headed_by_that_and_its_progress_is_an_error(empty_home: Path) -> None:
    sweep = new_sweep(MLP, (Axis("batch", (1, 2)),), "batch")
    error = "IndexError while call 0: eager: index 35 is out of bounds"
    failed = [SweepRow((size,), "", "failed", error=error) for size in ("1", "2")]
    app = opened(menu.SWEEP.script, sweep=add_sweep(empty_home, sweep, failed).id)
    assert [title.replace("\\", "") for title in titles(app)] == [f"All 2 cells failed: {error}"]
    assert [item.value for item in app.error] == ["0 of 2 cells done · 2 failed."]


@pytest.mark.parametrize(("low", "high"), [(0.676, 1.375), (0.9, 1.1), (3.1, 6.9), (0.02, 40.0), (1.0, 1.2)])
def test_a_logarithmic_axis_has_three_ticks_at_least(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert 3 <= len(ticks) <= 15
    assert all(low <= tick <= high for tick in ticks)
    assert len([tick for tick in decades(low, high, str)["tickvals"] if low / 1.1 <= tick <= high * 1.1]) >= 3


def test_a_visitor_without_code_names_no_file_as_a_backend(
    started: list[Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "may_bring_code", lambda: False)
    app = opened(menu.SWEEP.script)
    app.text_area("axes").set_value("backend=eager,/etc/mine.py:f").run()
    assert "must be a backend that torch lists here, not a file" in app.error[0].value
    app.text_area("axes").set_value("backend=eager,nosuch").run()
    assert "`nosuch` is no backend here" in app.error[0].value
    assert started == []


def test_a_zero_in_a_heat_map_leaves_the_other_shades_apart() -> None:
    (shades,) = sweeps._logarithms([[0.0, 1.0, 100.0, None]])
    assert shades == [pytest.approx(math.log10(0.5)), 0.0, pytest.approx(2.0), None]
    assert sweeps._logarithms([[None]]) == [[None]]
