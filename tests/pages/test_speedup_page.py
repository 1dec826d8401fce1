"""The page Speedup: what a measurement is told as."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, Model
from core.report import Call, Difference, Report, Setting
from core.views.speedup import speedup
from pages import menu
from tests.support.apps import assert_sound, chips, elements, opened, read_titles, read_words, words
from tests.support.homes import add_run, add_scenario, job_of, measured_log, record
from tests.support.tables import table_of, texts


def method(app: AppTest) -> str:
    """The method of the measurement, behind the question mark of the first chart."""
    return next(str(header.help) for header in app.header if header.value == "Speedup in the steady state")


def test_measurements_are_reported_with_their_interval(empty_home: Path) -> None:
    run = add_run(empty_home, "measured", measured_log(), job=job_of("transformer_block"))
    app = opened(menu.SPEEDUP.script, run.id)

    assert_sound(app)
    assert read_titles(app)[0].startswith("2.00× (1.90–2.10) faster in the steady state, pays off after ")
    assert "2.00× (1.90–2.10) speedup" in chips(app)
    assert "8 pairs of samples, 10 calls each, after 4 pairs of warm-up" in method(app)
    assert "8 pairs of samples" not in read_words(app)


def test_a_slow_down_is_reported_as_one(empty_home: Path) -> None:
    run = add_run(empty_home, "measured", measured_log(compiled_s=4e-3), job=job_of("transformer_block"))
    app = opened(menu.SPEEDUP.script, run.id)

    assert read_titles(app) == ["Compiled is 2.00× (1.90–2.11) slower than eager in the steady state"]


def test_without_a_difference_there_is_no_break_even(empty_home: Path) -> None:
    run = add_run(empty_home, "measured", measured_log(compiled_s=2e-3), job=job_of("transformer_block"))
    app = opened(menu.SPEEDUP.script, run.id)

    assert_sound(app)
    assert read_titles(app) == ["No difference seen: eager takes 0.950–1.05× as long as compiled"]
    assert "none seen (0.950–1.05×) speedup" in chips(app)
    assert "Compiled is not clearly faster, so compiling does not pay off for this call." in read_words(app)


def test_a_busy_machine_is_reported_in_the_headline_and_pays_nothing_back(empty_home: Path) -> None:
    log = measured_log(stopped="limit", spent_s=10.2, load={"others": 0.75, "waited": 0.4})
    run = add_run(empty_home, "measured", log, job=job_of("transformer_block"))
    app = opened(menu.SPEEDUP.script, run.id)

    assert_sound(app)
    said = "2.00× (1.90–2.10) faster in the steady state; the machine was busy while it was measured"
    assert read_titles(app) == [said]
    assert "2.00× (1.90–2.10) speedup, disturbed" in chips(app)
    assert "ended at the time limit, after 10.2 s" in method(app)
    assert "Other processes used 75.0 % of the CPUs; the run waited 40.0 % of its time for a CPU." in method(app)
    assert "Break-even unknown: the machine was busy while it was measured" in read_words(app)
    assert said in [link.label for link in elements(opened(menu.OVERVIEW.script, run.id), "page_link")]


def test_an_interval_of_a_decade_is_no_number_anywhere(empty_home: Path) -> None:
    noise = {"sides": {"eager": [1e-3, 9e-3] * 6, "compiled": [9e-3, 1e-3] * 6}, "load": {"others": 0.9, "waited": 0.5}}
    noisy = record("compileboard_timing", {"schema": 1, "warm_up": 0, "calls_per_sample": 1, **noise})
    run = add_run(empty_home, "measured", measured_log() + noisy, job=job_of("transformer_block")).id
    app = opened(menu.SPEEDUP.script, run)

    assert_sound(app)
    assert read_titles(app) == ["Speedup not measurable: the machine was busy while it was measured"]
    assert "not measurable speedup, disturbed" in chips(app)
    shown = opened(menu.RUNS.script)
    told = shown.dataframe[0].value.iloc[0]
    assert (told["speedup"] is None, told["doubt"]) == (
        True,
        "not measurable: the machine was busy while it was measured",
    )
    assert "0.111" not in read_words(app) + words(shown) + words(opened(menu.OVERVIEW.script, run))


def test_a_gpus_clock_is_named_and_the_wall_clock_is_beside_it(empty_home: Path) -> None:
    walls: dict[str, Any] = {"walls": {"eager": [3e-3] * 12, "compiled": [1e-3] * 12}}
    log = measured_log(clock="the device's own events", threads=4, load={"others": 0.1, "stolen": 0.02}, **walls)
    app = opened(menu.SPEEDUP.script, add_run(empty_home, "measured", log, job=job_of("transformer_block")).id)

    assert_sound(app)
    assert "4 threads" in method(app)
    assert (
        "Timed by the device's own events. Wall clock of back-to-back calls, launches included: eager 3.00 ms, "
        "compiled 1.00 ms, 3.00× (3.00–3.00). Other processes used 10.0 % of the CPUs (2.00 % stolen by the "
        "hypervisor)."
    ) in method(app)


def test_another_call_of_torch_compile_is_held_against_the_runs_own(empty_home: Path) -> None:
    rival = {
        "schema": 1,
        "options": {"mode": "<b>max"},
        "times": {"sides": {"compiled": [1e-3] * 12, "alternative": [1e-3] * 12}},
    }
    log = measured_log() + record("compileboard_rival", rival)
    app = opened(menu.SPEEDUP.script, add_run(empty_home, "measured", log, job=job_of("transformer_block")).id)

    assert_sound(app)
    assert (
        "No difference seen between `torch.compile(model)` and `torch.compile(model, mode='<b>max')`"
    ) in read_words(app)


def test_too_few_samples_are_reported_as_such(empty_home: Path) -> None:
    run = add_run(empty_home, "measured", measured_log(pairs=7), job=job_of("transformer_block"))
    app = opened(menu.SPEEDUP.script, run.id)

    assert_sound(app)
    assert read_titles(app) == ["Too few samples to say: eager took 2.00 ms, compiled 1.00 ms"]
    assert "too few samples to say speedup" in chips(app)


@pytest.mark.parametrize("page", [menu.SPEEDUP.script, menu.KERNELS.script])
def test_a_run_that_did_not_measure_can_be_measured(empty_home: Path, submitted: list[CompileJob], page: str) -> None:
    app = opened(page, add_scenario(empty_home, "transformer_block"))
    app.button(key="measure-now").click().run()
    assert_sound(app)
    assert submitted == [CompileJob(Model("sample", "transformer_block"), training=False)]


@pytest.mark.parametrize("scenario", ["measured", "target_h100", "foreign"])
def test_what_was_measured_or_cannot_be_is_not_offered(runs: dict[str, str], scenario: str) -> None:
    for page in (menu.SPEEDUP.script, menu.KERNELS.script):
        assert "measure-now" not in [button.key for button in opened(page, runs[scenario]).button]


def test_a_call_has_its_outcome_and_the_reason_of_its_error() -> None:
    same = Difference("output", True, dtype="float32", max_abs=0.5, error=0.0, tolerance=2e-5)
    calls = (
        Call(0, "f32[2]", 1e-3, 2e-3, (same,), how="compiled"),
        Call(1, "f32[3]", 1e-3, None, (), how="raised", raised="Detected recompile"),
    )
    first, second = texts(table_of(speedup(Report(Setting(), calls=calls)), "calls"))
    assert [first[name] for name in ("call", "execution", "compiled", "result", "why")] == [
        *("0", "compiled", "2.00 ms", "same", "")
    ]
    assert [second[name] for name in ("call", "execution", "compiled", "result", "why")] == [
        *("1", "raised", "", "not comparable", "Detected recompile")
    ]
