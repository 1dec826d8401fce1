"""Every page with every recorded scenario, without a browser; and what pages say when there is little to show."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import build_report
from core.analysis import compile_seconds
from core.base.words import duration_s
from pages import menu
from tests.record import SCENARIOS
from tests.screens import FIRST, Screen, recorded
from tests.support.apps import EVIDENCE, assert_sound, chips, opened, titles, words
from tests.support.places import APP, TRACES
from tests.support.screen import written

SECONDS = compile_seconds(build_report(TRACES / "recompile_zoo" / "trace.log").phases)
AGAIN = duration_s(sum(SECONDS[f"0/{number}"] for number in range(1, 9)))
TITLES = {
    (
        "transformer_block",
        menu.OVERVIEW.script,
    ): "1 graph, 0 graph breaks, 26 ops (and 24 views) became 6 kernels in 9 calls, 12.3 % less memory traffic.",
    ("transformer_block", menu.FX_GRAPH.script): "17 ops: what Dynamo captured.",
    ("transformer_block", menu.KERNELS.script): "4 generated kernels and 2 extern kernels in 9 calls.",
    (
        "transformer_block",
        menu.FUSION.script,
    ): "26 ops in 16 scheduler nodes became 10: 25.7 MB of traffic became 22.6 MB, 12.3 % less.",
    (
        "training_step",
        menu.OVERVIEW.script,
    ): "1 graph, 0 graph breaks, 71 ops (and 17 views) of forward and backward became 8 kernels in 12 calls, 6.67 % "
    "less memory traffic.",
    ("training_step", menu.KERNELS.script): "6 generated kernels and 2 extern kernels in 12 calls.",
    ("graph_break_zoo", menu.GRAPH_BREAKS.script): "5 places where Dynamo stopped, met 10 times.",
    ("graph_break_zoo", menu.RECOMPILES.script): "No recompile: the first code of every frame was good for all calls.",
    (
        "recompile_zoo",
        menu.RECOMPILES.script,
    ): f"8 recompiles because a guard failed, which took {AGAIN}.",
    ("symbols", menu.DYNAMIC_SHAPES.script): "8 symbols in [0/0], 4 of them unbacked, 1 made a constant.",
    ("dynamic_batch", menu.DYNAMIC_SHAPES.script): "1 symbol in [0/0].",
    ("transformer_block", menu.DYNAMIC_SHAPES.script): "No size of [0/0] is dynamic.",
    ("recompile_zoo", menu.GRAPH_BREAKS.script): "No graph break, but 1 frame is over the recompile limit.",
    ("training_step", menu.GRAPH_BREAKS.script): "No graph break: Dynamo captured every frame whole.",
    ("recompile_zoo", menu.GUARDS.script): "19 guards must hold to use [0/6] again.",
    ("training_step", menu.GUARDS.script): "51 guards must hold to use [0/0] again.",
    ("eager_backend", menu.KERNELS.script): "This compilation has no kernel.",
    ("eager_backend", menu.FUSION.script): "The scheduler's nodes were not recorded for this compilation.",
    ("error", menu.OVERVIEW.script): "The run failed on line 7 of your code: ValueError: at most four rows.",
    (
        "foreign",
        menu.OVERVIEW.script,
    ): "6 graphs, 2 graph breaks, 72 ops (and 16 views) of forward and backward became 9 kernels in 24 calls.",
    ("foreign", menu.SPEEDUP.script): "No call was recorded.",
}
Open = Callable[..., AppTest]


@pytest.mark.parametrize("screen", FIRST, ids=lambda screen: f"{screen.scenario}-{screen.page}")
def test_a_page_shows_a_recorded_scenario_and_says_what_it_said(runs: dict[str, str], screen: Screen) -> None:
    scenario, page = screen.scenario, screen.page
    app = screen.opened(runs[scenario])

    assert_sound(app)
    assert len(app.title) == 1
    assert chips(app)[0] == ("failed" if scenario in ("error", "refused") else "done")
    assert "1 graph" in chips(app) or any(chip.endswith(" graphs") for chip in chips(app))
    assert app.query_params["run"] == runs[scenario]
    if (scenario, page) in TITLES:
        assert titles(app) == [TITLES[scenario, page]]
    assert written(app) == recorded(scenario)[screen.name]


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
        "26 → 6 post-grad ops → kernels",
        "−12.3 % memory traffic",
        "cpu",
        "torch 2.13.0+cpu",
    ]


@pytest.mark.parametrize("page", EVIDENCE)
def test_every_compilation_of_a_run_can_be_chosen(runs: dict[str, str], page: str) -> None:
    app = opened(page, runs["graph_break_zoo"])
    for compile_id in [f"{frame}/0" for frame in (0, 2, 13)]:
        app.selectbox(key="compilation").set_value(compile_id).run()

        assert_sound(app)
        assert app.query_params["compilation"] == compile_id


def test_the_chosen_compilation_decides_what_is_shown(runs: dict[str, str]) -> None:
    app = opened(menu.GUARDS.script, runs["recompile_zoo"])
    app.selectbox(key="compilation").set_value("0/2").run()

    assert titles(app) == ["18 guards must hold to use [0/2] again."]


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
    assert "will stand here" in app.header[0].value
    assert "Choose an earlier run above, or make one." in words(app)


@pytest.mark.parametrize("page", [*EVIDENCE, menu.RUNS.script])
@pytest.mark.parametrize("run", ["20260101-000000-gone-0000", "../../etc", "<img src=x onerror=alert(1)>", "x" * 9_000])
def test_a_link_to_a_run_that_is_not_here_says_so(empty_home: Path, page: str, run: str) -> None:
    app = opened(page, run)

    assert_sound(app)
    assert "it may have been deleted" in app.warning[0].value
