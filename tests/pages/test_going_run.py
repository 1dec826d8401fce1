"""Pages of a run that goes on: what is recorded so far, what is done now, and the verdict before the numbers."""

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import Run, Store
from pages import menu
from tests.support.apps import assert_sound, chips, component, opened, titles, words
from tests.support.homes import add_run, job_of, keeper, record
from tests.support.places import TRACES

WHOLE = (TRACES / "transformer_block" / "trace.log").read_bytes()
HALF = WHOLE[: len(WHOLE) // 2]
COMPARED = WHOLE + record("compileboard_step", {"schema": 1, "name": "measuring"})
NOT_YET = "Not recorded yet; this page updates itself."
SO_FAR = "The page shows what is recorded so far."


def going(home: Path, log: bytes | None) -> Run:
    """A run that goes on, and measures."""
    return add_run(home, "block", log, job=job_of("transformer_block") | {"measure": True}, state="running", **keeper())


def page_of(home: Path, script: str, log: bytes | None) -> AppTest:
    app = opened(script, going(home, log).id)
    assert_sound(app)
    return app


def test_until_the_verdict_stands_the_steps_are_shown_with_those_to_come(empty_home: Path) -> None:
    app = page_of(empty_home, menu.OVERVIEW.script, HALF)

    sent = component(app, "live-progress")
    assert sent["steps"] == [
        "loading the model",
        "making the inputs of call 0",
        "call 0: running eagerly",
        "call 0: compiling and running",
    ]
    assert sent["to_come"] == [
        "call 0: comparing with eager",
        "measuring eager and compiled, interleaved",
        "timing each kernel by itself",
    ]
    assert "bytecode_tracing" in {span[0] for span in sent["spans"]}
    assert titles(app) == ["Inductor rewrites the graph and lowers it…"]
    assert app.button(key="cancel").label == "Cancel"
    assert chips(app)[0] == "running"


def test_the_time_of_the_last_run_of_the_model_is_beside_the_elapsed_time(empty_home: Path) -> None:
    run = going(empty_home, HALF)
    job = run.job()
    assert job is not None
    add_run(empty_home, job.title(), HALF, job=job_of("transformer_block"))
    app = opened(menu.OVERVIEW.script, run.id)

    assert [caption.value for caption in app.caption if ", last time 3.00 s · " in caption.value] != []


def test_a_run_that_has_not_started_says_so(empty_home: Path) -> None:
    app = page_of(empty_home, menu.GUARDS.script, None)
    assert "The run has not started…" in words(app)
    assert NOT_YET in words(app)


@pytest.mark.parametrize(
    "page", [menu.GUARDS, menu.KERNELS, menu.KERNEL, menu.SPEEDUP, menu.TARGETS, menu.COMPARE, menu.RECOMPILES]
)
def test_what_is_not_recorded_yet_is_not_said_to_be_missing(empty_home: Path, page: menu.Page) -> None:
    app = page_of(empty_home, page.script, HALF)
    assert titles(app) == []
    assert NOT_YET in words(app)


def stages(app: AppTest) -> list[str]:
    """The graphs that the page FX graph offers."""
    return [stop["id"] for stretch in component(app, "stage-row")["stretches"] for stop in stretch["stops"]]


def test_what_is_recorded_is_shown_and_grows(empty_home: Path) -> None:
    run = going(empty_home, HALF)
    app = opened(menu.FX_GRAPH.script, run.id)
    assert "dynamo_output_graph" in stages(app)
    assert "inductor_post_grad_graph.inference" not in stages(app)
    assert titles(app) == ["17 ops: captured by Dynamo"]
    assert SO_FAR in words(app)

    with (run.trace_dir / "trace.log").open("ab") as log:
        log.write(WHOLE[len(HALF) :])
    time.sleep(0.3)
    app.run()
    assert "inductor_post_grad_graph.inference" in stages(app)
    assert component(app, "stage-row")["chosen"] == "dynamo_output_graph"


def test_the_verdict_stands_while_its_numbers_are_measured(empty_home: Path) -> None:
    app = page_of(empty_home, menu.OVERVIEW.script, COMPARED)
    assert "fused into 6 kernels" in titles(app)[0]
    assert chips(app)[0] == "measuring …"
    assert "same" in " ".join(chips(app))
    assert "Measuring eager and compiled, interleaved… The numbers appear when it is done." in words(app)
    assert app.button(key="cancel").label == "Cancel"


def test_pages_say_what_there_is_not_once_all_is_compiled(empty_home: Path) -> None:
    app = page_of(empty_home, menu.RECOMPILES.script, COMPARED)
    assert titles(app) == ["No recompile\\: the first compilation of every frame served all calls"]


def test_nothing_of_a_run_that_goes_on_is_stored(empty_home: Path) -> None:
    run = going(empty_home, COMPARED)
    for page in (menu.OVERVIEW, menu.FX_GRAPH, menu.FUSION):
        opened(page.script, run.id)
    assert not run.report_path.exists()
    assert not run.graphs_dir.exists()
    assert Store(empty_home).open(run.id).status().live


def test_a_run_that_ends_while_its_page_is_drawn_is_shown_as_ended_in_the_header_too(empty_home: Path) -> None:
    def page(ended: str) -> None:
        from pathlib import Path

        import streamlit as st

        from pages.session.header import header
        from pages.session.shown import shown_run

        header("fusion")
        here = shown_run()
        if here is not None and here.going:
            (here.run.path / "status.json").write_text(Path(ended).read_text())
            here = shown_run()
        st.title(here.status.state if here is not None else "")

    run = going(empty_home, COMPARED)
    ended = add_run(empty_home, "ended", COMPARED)
    app = AppTest.from_function(page, args=(str(ended.path / "status.json"),), default_timeout=240)
    app.query_params["run"] = run.id
    assert_sound(app.run())
    assert (chips(app)[0], titles(app)) == ("done", ["done"])
