"""Every page with every recorded scenario, without a browser; and what pages say when there is little to show."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.commands.report import PAGES
from pages import menu
from tests.record import SCENARIOS
from tests.screens import FIRST, Screen, assert_as_recorded
from tests.support.apps import EVIDENCE, assert_sound, chips, opened, titles, words
from tests.support.block_content import WITHOUT, assert_drawn, blocks_of
from tests.support.places import APP
from tests.support.sample import one_in

Open = Callable[..., AppTest]


@pytest.mark.parametrize("screen", FIRST, ids=lambda screen: f"{screen.scenario}-{screen.page}")
def test_a_page_shows_a_recorded_scenario_as_its_text_and_its_blocks_say(runs: dict[str, str], screen: Screen) -> None:
    scenario = screen.scenario
    app = screen.opened(runs[scenario])

    assert_sound(app)
    if (name := Path(screen.page).stem) in PAGES and scenario not in WITHOUT.get(name, ()):
        assert_drawn(app, blocks_of(name, scenario))
    assert len(app.title) == 1
    assert chips(app)[0] == ("failed" if scenario in ("error", "refused") else "done")
    assert "1 graph" in chips(app) or any(chip.endswith(" graphs") for chip in chips(app))
    assert app.query_params["run"] == runs[scenario]
    assert_as_recorded(screen, app)


def test_the_menu_has_every_script_and_no_other() -> None:
    folders = {Path(APP).parent / page.section.lower() for page in menu.PAGES.values()}
    scripts = {path.relative_to(Path(APP).parent).as_posix() for folder in folders for path in folder.glob("*.py")}

    assert scripts == {page.script for page in menu.PAGES.values()}


def test_the_header_sums_the_run_up(runs: dict[str, str]) -> None:
    app = opened(menu.KERNELS.script, runs["transformer_block"])

    assert chips(app) == [
        "done",
        "0 graph breaks",
        "0 recompiles",
        "same result",
        "1 graph",
        "26 post-grad ops → 6 kernels",
        "−12.3 % memory traffic",
        "cpu",
        "torch 2.13.0+cpu",
    ]


@pytest.mark.parametrize("page", one_in(4, EVIDENCE))
def test_every_compilation_of_a_run_can_be_chosen(runs: dict[str, str], page: str) -> None:
    app = opened(page, runs["graph_break_zoo"])
    for compile_id in [f"{frame}/0" for frame in (0, 2, 13)]:
        app.selectbox(key="compilation").set_value(compile_id).run()

        assert_sound(app)
        assert app.query_params["compilation"] == compile_id


def test_the_chosen_compilation_decides_what_is_shown(runs: dict[str, str]) -> None:
    app = opened(menu.GUARDS.script, runs["recompile_zoo"])
    app.selectbox(key="compilation").set_value("0/2").run()

    assert titles(app) == ["18 guards must pass to reuse \\[0/2\\]"]


@pytest.mark.parametrize("select", ["n:no_such_node", "", "k:../../etc/passwd", "<script>", "n:" + "x" * 5_000])
@pytest.mark.parametrize(
    "page", [menu.FX_GRAPH.script, menu.FUSION.script, menu.KERNELS.script, menu.GRAPH_BREAKS.script]
)
def test_a_selection_that_does_not_exist_is_no_error(runs: dict[str, str], page: str, select: str) -> None:
    assert_sound(opened(page, runs["transformer_block"], select=select, compilation="9/9", graph="none", step="x"))


def test_guards_can_be_searched(runs: dict[str, str]) -> None:
    app = opened(menu.GUARDS.script, runs["transformer_block"])
    app.text_input(key="guard").set_value("TENSOR_MATCH").run()
    assert_sound(app)
    assert set(app.dataframe[-1].value["kind"]) == {"TENSOR_MATCH"}
    app.text_input(key="guard").set_value("no guard says this").run()
    assert_sound(app)


def test_a_frame_can_be_chosen_for_its_compile_time(runs: dict[str, str]) -> None:
    app = opened(menu.COMPILE_TIME.script, runs["graph_break_zoo"])
    for option in app.selectbox(key="frame").options:
        app.selectbox(key="frame").set_value(option).run()
        assert_sound(app)


def test_stored_runs_can_be_filtered(runs: dict[str, str]) -> None:
    app = opened(menu.RUNS.script)
    assert len(app.dataframe[0].value) >= len(SCENARIOS)
    app.text_input(key="filter").set_value("failed").run()

    assert_sound(app)
    assert set(app.dataframe[0].value["run"]) == {"error", "refused"}


@pytest.mark.parametrize("page", EVIDENCE)
def test_without_a_run_a_page_says_what_would_be_here(empty_home: Path, page: str) -> None:
    app = opened(page)

    assert_sound(app)
    assert titles(app) == []
    purpose = app.header[0].value
    assert purpose.startswith("This page ")
    assert "Choose an earlier run above, or make one." in words(app)


@pytest.mark.parametrize("page", [*EVIDENCE, menu.RUNS.script])
@pytest.mark.parametrize(
    "run", one_in(4, ["20260101-000000-gone-0000", "../../etc", "<img src=x onerror=alert(1)>", "x" * 9_000])
)
def test_a_link_to_a_run_that_is_not_here_says_so(empty_home: Path, page: str, run: str) -> None:
    app = opened(page, run)

    assert_sound(app)
    assert "it may have been deleted" in app.warning[0].value
