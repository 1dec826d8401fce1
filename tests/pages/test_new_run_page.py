"""The page New run: while torch starts and once it has, what it offers, and what it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import Environment
from pages import menu
from pages.session import server
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


@pytest.fixture(scope="module")
def asks_torch(runs: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the page that starts the fork server: no compiler is in reach, so that no header is built; ended at the
    end.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path_factory.mktemp("no-compiler")))
        yield
        server._environment().result()
        server.runner().engine.close()


def test_new_run_offers_every_sample_and_says_that_the_compiler_is_missing(asks_torch: None) -> None:
    app = opened(menu.NEW_RUN.script)

    assert_sound(app)
    assert titles(app) == ["What does torch.compile make of it?"]
    assert "There is no C++ compiler here" in app.error[0].value
    compile_buttons = [button for button in app.button if (button.key or "").startswith("compile-")]
    assert len(compile_buttons) > 20
    assert [tab.label for tab in app.tabs] == ["Samples", "Your code", "A trace log"]


def test_a_chosen_sample_shows_its_code_and_the_call(asks_torch: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")

    assert_sound(app)
    assert app.subheader[0].value == "Sine and cosine"
    assert "torch.sin" in app.code[0].value or "sin()" in app.code[0].value
    assert app.expander[0].label == "`torch.compile(model)`"


def test_a_wrong_option_is_named_at_once(asks_torch: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_input(key="options-sample-sin_cos-inductor").set_value("max_autotune").run()

    assert_sound(app)
    assert app.error[1].value.replace("\\", "") == "compile.options: `max_autotune`: write name=value"


def test_a_wrong_call_is_named_before_anything_runs(asks_torch: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_area(key="options-sample-sin_cos-calls").set_value("f32[8, oops]").run()
    app.button(key="compile-sample").click().run()

    assert_sound(app)
    assert (
        app.error[1].value.replace("\\", "") == "calls[0]: `oops` is neither a tensor such as f32[8, 64] nor a literal"
    )


def test_code_from_visitors_is_refused_where_the_owner_says_so(
    asks_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = opened(menu.NEW_RUN.script)

    assert_sound(app)
    assert "This server does not run code that visitors bring" in words(app)
    assert not [item for item in app.text_area if item.key == "pasted-code"]
