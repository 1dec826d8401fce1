"""Every page of a run that is not done, or ended badly, and of what is no log."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pages import menu
from tests.support.apps import EVIDENCE, assert_sound, chips, homed, opened, words
from tests.support.homes import NOT_LOGS, add_run, job_of, keeper
from tests.support.places import TRACES
from tests.support.sample import one_in

WHOLE_LOG = (TRACES / "transformer_block" / "trace.log").read_bytes()
HALF_A_LOG = WHOLE_LOG[: len(WHOLE_LOG) // 2]
STATES = {
    "queued": {"state": "queued", **keeper()},
    "running": {"state": "running", **keeper()},
    "crashed": {"state": "crashed", "reason": "the worker was ended by SIGSEGV", "signal": "SIGSEGV"},
    "timed out": {"state": "timed out", "reason": "not done after 600 s"},
    "out of memory": {"state": "out of memory", "reason": "the run used more than its 8.59 GB"},
    "cancelled": {"state": "cancelled", "reason": "cancelled by the user"},
    "interrupted": {"state": "running", "handle": f"local:{2**22 + 1}@1.00"},
}
OVERVIEWS = {
    "queued": "Waiting in the queue of another server…",
    "running": "Starting the worker…",
    "crashed": "the worker was ended by SIGSEGV",
    "timed out": "not done after 600 s",
    "out of memory": "the run used more than its 8.59 GB",
    "cancelled": "The run was cancelled",
    "interrupted": "The run was interrupted",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all of them, so that what a log says is read once for all pages."""
    with homed(tmp_path_factory.mktemp("home")) as home:
        yield home


@pytest.fixture(scope="module")
def halves(home: Path) -> dict[str, str]:
    """A run of each state, with half a log."""
    return {name: unfinished(home, name, HALF_A_LOG) for name in STATES}


@pytest.fixture(scope="module")
def not_logs(home: Path) -> dict[str, str]:
    """What is no log, or none that a person would want, opened as one."""
    return {name: add_run(home, "log", log, kind="log").id for name, log in NOT_LOGS.items()}


@pytest.mark.parametrize("name", one_in(3, STATES))
@pytest.mark.parametrize("page", EVIDENCE)
def test_a_run_that_is_not_done_shows_its_state(halves: dict[str, str], page: str, name: str) -> None:
    app = opened(page, halves[name])

    assert_sound(app)
    assert chips(app)[0] == name


@pytest.mark.parametrize("name", STATES)
def test_the_overview_says_how_a_run_without_a_log_ended(home: Path, name: str) -> None:
    app = opened(menu.OVERVIEW.script, unfinished(home, name, None))

    assert_sound(app)
    assert OVERVIEWS[name] in words(app).replace("\\", "")
    assert "the last words of the worker" in words(app)


def test_the_stacks_of_a_worker_are_folded_where_the_run_has_a_log(home: Path, halves: dict[str, str]) -> None:
    for run, is_open in ((halves["timed out"], False), (unfinished(home, "timed out", None), True)):
        app = opened(menu.OVERVIEW.script, run)
        assert [fold.proto.expanded for fold in app.expander if fold.label == "Last output of the worker"] == [is_open]


def unfinished(home: Path, name: str, log: bytes | None) -> str:
    run = add_run(home, "mlp", log, job=job_of("eager_backend"), **STATES[name])
    run.output_path.write_text("the last words of the worker\n")
    return run.id


NO_RECORDS = ("empty", "no log", "binary", "wrong encoding", "json bomb")


@pytest.mark.parametrize("page", [*EVIDENCE, menu.RUNS.script])
@pytest.mark.parametrize("name", one_in(3, NOT_LOGS))
def test_no_log_is_bad_enough_for_an_exception(not_logs: dict[str, str], page: str, name: str) -> None:
    app = opened(page, not_logs[name])

    assert_sound(app)
    assert chips(app)[0] == ("no trace" if name in NO_RECORDS else "done")
    assert "opened log" in chips(app)


def test_a_visitor_sees_what_a_bug_report_leaves_out_before_it_is_written(home: Path) -> None:
    log = (TRACES / "error" / "trace.log").read_bytes()
    run = add_run(home, "error", log, job=job_of("error"), state="failed")
    run.model_path.write_text("class Encoder: pass\n")
    app = opened(menu.OVERVIEW.script, run.id)
    pills = next(group for group in app.pills if group.label == "Replace by placeholders")
    app = pills.set_value(["names"]).run()
    assert_sound(app)
    assert [caption.value for caption in app.caption if "Encoder → name_" in caption.value]
