"""The page New run: while torch starts and once it has, what it offers, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Environment, Model
from pages import menu
from pages.parts.run import submit
from pages.session import doors, server
from tests.support.apps import assert_sound, opened, titles, words


def test_the_tabs_stay_where_they_are_when_torch_has_started(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    states = (None, Environment(torch="2.13.0"), Environment(problem="it is broken"))
    for environment in states:
        monkeypatch.setattr(server, "environment", lambda environment=environment: environment)
        children = opened(menu.NEW_RUN.script).main.children
        places.append([place for place, child in children.items() if child.type == "tab_container"])
    assert len(places[0]) == 1
    assert places == [places[0]] * 3


@pytest.fixture
def torch_alone(runs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch has said what it can do, and no compiler is in reach."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))


def test_new_run_offers_every_sample_and_says_that_the_compiler_is_missing(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script)

    assert_sound(app)
    assert titles(app) == ["What does torch.compile make of it?"]
    assert "There is no C++ compiler here" in app.error[0].value
    compile_buttons = [button for button in app.button if (button.key or "").startswith("compile-")]
    assert len(compile_buttons) > 20
    assert [tab.label for tab in app.tabs] == ["Samples", "Your code", "A trace log"]


def test_a_chosen_sample_shows_its_code_and_the_call(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")

    assert_sound(app)
    assert app.subheader[0].value == "Sine and cosine"
    assert "torch.sin" in app.code[0].value or "sin()" in app.code[0].value
    assert app.expander[0].label == "`torch.compile(model)`"


def test_a_wrong_option_is_named_at_once(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_input(key="options-sample-sin_cos-inductor").set_value("max_autotune").run()

    assert_sound(app)
    assert app.error[1].value.replace("\\", "") == "compile.options: `max_autotune`: write name=value"


def test_a_wrong_call_is_named_before_anything_runs(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_area(key="options-sample-sin_cos-calls").set_value("f32[8, oops]").run()
    app.button(key="compile-sample").click().run()

    assert_sound(app)
    assert (
        app.error[1].value.replace("\\", "") == "calls[0]: `oops` is neither a tensor such as f32[8, 64] nor a literal"
    )


def test_code_from_visitors_is_refused_where_the_owner_says_so(
    torch_alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = opened(menu.NEW_RUN.script)

    assert_sound(app)
    assert "This server does not run code that visitors bring" in words(app)
    assert not [item for item in app.text_area if item.key == "pasted-code"]


@pytest.fixture
def submitted(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[CompileJob]:
    """The jobs that the page would have queued, on a machine with a device and backends."""
    here = Environment(torch="2.13.0", devices={"cpu": "Xeon", "cuda": "H100"}, backends=("inductor", "aot_eager"))
    monkeypatch.setattr(server, "environment", lambda: here)
    jobs: list[CompileJob] = []
    monkeypatch.setattr(doors, "submit", jobs.append)
    monkeypatch.setattr(submit, "show_run", lambda _: None)
    return jobs


SIN_COS = CompileJob(Model("sample", "sin_cos"), training=False)


@pytest.mark.parametrize(
    ("kind", "name", "value", "job"),
    [
        ("selectbox", "backend", "aot_eager", replace(SIN_COS, compile=CompileOptions(backend="aot_eager"))),
        ("selectbox", "mode", "max-autotune", replace(SIN_COS, compile=CompileOptions(mode="max-autotune"))),
        ("selectbox", "dynamic", "always", replace(SIN_COS, compile=CompileOptions(dynamic=True))),
        ("selectbox", "dtype", "bfloat16", replace(SIN_COS, dtype="bfloat16")),
        ("selectbox", "device", "cuda", replace(SIN_COS, device="cuda")),
        ("selectbox", "device", "h100", replace(SIN_COS, target="h100")),
        ("number_input", "seed", 7, replace(SIN_COS, seed=7)),
        ("toggle", "fullgraph", True, replace(SIN_COS, compile=CompileOptions(fullgraph=True))),
        ("toggle", "training", True, replace(SIN_COS, training=True)),
        ("toggle", "measure", False, replace(SIN_COS, measure=False)),
        (
            "text_input",
            "inductor",
            "epilogue_fusion=False",
            replace(SIN_COS, compile=CompileOptions(options={"epilogue_fusion": False})),
        ),
        ("text_area", "calls", " f32[8] \n\nf32[9], 2.0\n", replace(SIN_COS, calls=("f32[8]", "f32[9], 2.0"))),
        ("number_input", "time", 30, replace(SIN_COS, time_limit_s=30.0)),
        ("number_input", "memory", 1.5, replace(SIN_COS, memory_limit_bytes=3 * 2**29)),
        ("text_area", "calls", "", SIN_COS),
    ],
)
def test_every_option_reaches_the_job(
    submitted: list[CompileJob], kind: str, name: str, value: object, job: CompileJob
) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    widget = getattr(app, kind)(key=f"options-sample-sin_cos-{name}")
    widget.set_value(value).run()
    assert_sound(app)
    app.button(key="compile-sample").click().run()
    assert submitted == [job]
