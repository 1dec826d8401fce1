"""What a server's owner gives its visitors: read from the environment, held where jobs are submitted, told on the
pages.
"""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import (
    AccessError,
    CompileJob,
    JobError,
    Limits,
    Model,
    Run,
    Runner,
    Store,
    limits_of,
    open_report,
)
from core.base.errors import SettingError
from core.job import GIB
from core.runs.engine.queues import Assignment
from core.runs.index.database import RunIndex
from core.runs.limits import PUBLIC, VARIABLES
from core.runs.tools.tasks import Interpret, Ladder
from pages import menu
from pages.session import server
from tests.support.engines import FakeSite
from tests.support.homes import add_run, add_scenario, job_of, keeper
from tests.support.places import APP, TRACES

JOB = CompileJob(Model("sample", "mlp"), time_limit_s=60, memory_limit_bytes=GIB)


class Idle(FakeSite):
    """An engine that lets every run wait."""

    def prepare(self, assignment: Assignment) -> None: ...

    def lacks(self, *_: object) -> str:
        return ""

    def start(self, *_: object) -> None: ...

    def cancel(self, run: Run) -> None: ...


def runner(home: Path, limits: Limits) -> Runner:
    return Runner(Store(home), Idle(), code_allowed=lambda: False, limits=limits)


def stored(found: Runner) -> int:
    return len(list(found.store.runs_dir.iterdir()))


def test_without_variables_a_server_that_runs_code_has_no_bounds_and_one_that_does_not_has_all() -> None:
    assert limits_of({}, code_allowed=True) == Limits()
    assert limits_of({}, code_allowed=False) == PUBLIC
    assert None not in (getattr(PUBLIC, name) for name in VARIABLES)


@pytest.mark.parametrize("code_allowed", [True, False])
def test_each_variable_sets_its_limit_alone(code_allowed: bool) -> None:
    base = limits_of({}, code_allowed)
    for name, (variable, unit) in VARIABLES.items():
        assert limits_of({variable: "7"}, code_allowed) == replace(base, **{name: 7 * unit})


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "many", "1e999"])
def test_a_variable_that_is_no_number_above_zero_is_reported_by_name(text: str) -> None:
    with pytest.raises(SettingError, match="COMPILEBOARD_MAX_RUNS"):
        limits_of({"COMPILEBOARD_MAX_RUNS": text}, code_allowed=True)


@pytest.mark.promise("limits")
@pytest.mark.parametrize(
    ("limits", "field"),
    [(Limits(time_s=59), "time_limit_s"), (Limits(memory_bytes=GIB - 1), "memory_limit_bytes")],
)
def test_a_job_that_asks_for_more_than_there_is_stores_nothing(tmp_path: Path, limits: Limits, field: str) -> None:
    """A job that exceeds the server's limits of time or memory is refused and stores nothing."""
    found = runner(tmp_path, limits)
    with pytest.raises(JobError) as error:
        found.submit(JOB, "ann")
    assert (error.value.field, stored(found)) == (field, 0)
    found.submit(limits.fitted(JOB), "ann")
    assert stored(found) == 1


@pytest.mark.promise("limits")
def test_a_visitor_has_so_many_live_runs_and_others_have_theirs(tmp_path: Path) -> None:
    """The number of queued and running runs is limited for each visitor."""
    found = runner(tmp_path, Limits(live_runs=2))
    first, _ = found.submit(JOB, "ann"), found.submit(JOB, "ann")
    with pytest.raises(AccessError, match="2 of your runs are queued or running, the limit for one visitor"):
        found.submit(JOB, "ann")
    found.submit(JOB, "bob")
    for _ in range(3):
        found.submit(JOB)
    first.write_status(replace(first.status(), state="done", handle=""))
    found.submit(JOB, "ann")
    assert stored(found) == 7


def test_a_queue_is_full_for_all(tmp_path: Path) -> None:
    found = runner(tmp_path, Limits(queue=2))
    found.submit(JOB, "ann")
    found.submit(JOB, "bob")
    for name in ("cid", ""):
        with pytest.raises(AccessError, match="2 runs are queued or running, the limit of this server"):
            found.submit(JOB, name)


@pytest.mark.promise("limits")
def test_stored_runs_and_bytes_of_a_visitor_are_bounded_and_nothing_is_deleted_for_a_new_one(tmp_path: Path) -> None:
    """At a limit nothing new starts, and nothing is deleted to make room."""
    for limits in (Limits(runs=1), Limits(visitor_bytes=1000)):
        found = runner(tmp_path / str(limits.runs), limits)
        mine = add_run(found.store.home, "mlp", b"x" * 2000, job=job_of("transformer_block"), by="ann")
        with pytest.raises(AccessError, match="delete some of yours"):
            found.submit(JOB, "ann")
        with pytest.raises(AccessError, match="delete some of yours"):
            found.add_log("x.log", io.BytesIO(b"x"), "ann")
        assert mine.path.exists()
        found.submit(JOB, "bob")


@pytest.mark.promise("limits")
def test_a_full_store_takes_no_run_no_log_and_no_answer_of_a_tool(tmp_path: Path) -> None:
    """A full store accepts no runs, logs or tool requests."""
    found = runner(tmp_path, Limits(store_bytes=1000))
    run = found.store.open(add_scenario(tmp_path, "transformer_block"))
    requests: tuple[Callable[[], object], ...] = (
        lambda: found.submit(JOB, "ann"),
        lambda: found.add_log("x.log", io.BytesIO(b"x"), "ann"),
        lambda: found.start_tool(run, Ladder("k"), "ann"),
    )
    for ask in requests:
        with pytest.raises(AccessError, match="the store of this server is full"):
            ask()


def test_usage_counts_a_visitors_own_and_all_also_while_the_index_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    add_run(tmp_path, "a", b"12345", by="ann", state="running", **keeper())
    add_run(tmp_path, "b", b"123", by="bob")
    add_run(tmp_path, "c", b"123")
    index = RunIndex(store)
    used = index.usage("ann")
    # A directory with more files than an entry counts is counted when it is needed.
    monkeypatch.setattr("core.runs.index.entry.MOST_FILES", 1)
    for path in index.path.parent.iterdir():
        path.unlink()
    assert RunIndex(store).usage("ann") == used
    assert (used.live_runs, used.runs, used.queue) == (1, 1, 1)
    assert 5 < used.visitor_bytes < used.store_bytes
    assert index.usage().runs == 0


def test_the_widgets_show_the_bound_and_why(closed_pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_MAX_TIME_S", "90")
    monkeypatch.setenv("COMPILEBOARD_MAX_MEMORY_GIB", "2")
    app = AppTest.from_file(APP, default_timeout=240)
    app.query_params["sample"] = "mlp"
    app.run()
    limits = {item.label: item for item in app.number_input if " limit (" in item.label}
    assert {label: (item.value, item.max) for label, item in limits.items()} == {
        "time limit (s)": (90, 90),
        "memory limit (GiB)": (2.0, 2.0),
    }
    assert all((item.help or "").endswith(": a limit of this server for one run.") for item in limits.values())


@pytest.mark.promise("limits")
def test_the_page_runs_says_what_is_used_and_warns_before_it_is_used_up(
    closed_pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*Runs* shows how much of the store is used, and warns when it is full."""
    add_run(closed_pages, "foreign", (TRACES / "foreign" / "trace.log").read_bytes(), kind="log")
    app = AppTest.from_file(APP, default_timeout=240).run()
    assert "of 20 GiB for all" in app.switch_page(menu.RUNS.script).run().caption[0].value
    monkeypatch.setenv("COMPILEBOARD_MAX_STORE_GIB", "0.00001")
    server.the_runner.clear()
    assert "nothing new is started or opened; what is here stays" in app.run().warning[0].value


@pytest.mark.promise("limits")
def test_answers_of_tools_are_used_by_who_asks_whoever_made_the_run(tmp_path: Path) -> None:
    """A tool request counts for who makes it, whoever made the run."""
    found = runner(tmp_path, PUBLIC)
    run = anns(found)
    kernel = kernel_of(run)
    before = found.index.usage("ann")
    for program in range(3):
        found.start_tool(run, Interpret(kernel, program=(program, 0, 0)), "bob")
    ann, bob = found.index.usage("ann"), found.index.usage("bob")
    assert (ann.visitor_bytes, ann.live_tools, ann.answers) == (before.visitor_bytes, 0, 0)
    assert (bob.runs, bob.live_runs, bob.live_tools, bob.answers, bob.tool_queue) == (0, 0, 3, 3, 3)
    assert bob.visitor_bytes == ann.store_bytes - before.store_bytes > 0


@pytest.mark.promise("limits")
@pytest.mark.parametrize(
    ("cookies", "limits", "taken", "words"),
    [
        (1, PUBLIC, 4, "4 of your tool requests are queued or running, the limit for one visitor"),
        (100, PUBLIC, 40, "40 tool requests are queued or running, the limit of this server"),
        (1, replace(PUBLIC, visitor_bytes=30_000, live_runs=None), 2, "your runs would take more than"),
    ],
)
def test_questions_to_tools_are_bounded_for_a_visitor_and_for_all(
    tmp_path: Path, cookies: int, limits: Limits, taken: int, words: str
) -> None:
    """The number of queued tool requests is limited, for each visitor and for all."""
    found = runner(tmp_path, limits)
    run = anns(found)
    kernel = kernel_of(run)
    asked, said = 0, ""
    for number in range(taken + 20):
        try:
            found.start_tool(run, Interpret(kernel, program=(number, 0, 0)), f"guest {number % cookies}")
            asked += 1
        except AccessError as error:
            said = str(error)
    assert (asked, len(list((run.path / "tools").iterdir()))) == (taken, taken)
    assert words in said


def test_stored_answers_of_a_visitor_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.limits.MAX_ANSWERS", 2)
    found = runner(tmp_path, replace(PUBLIC, live_runs=None))
    run = anns(found)
    for program in range(2):
        found.start_tool(run, Interpret(kernel_of(run), program=(program, 0, 0)), "bob")
    with pytest.raises(AccessError, match="2 of your tool results are stored, the limit for one visitor"):
        found.start_tool(run, Interpret(kernel_of(run), program=(9, 0, 0)), "bob")
    assert found.start_tool(run, Interpret(kernel_of(run), program=(1, 0, 0)), "bob").path.exists()


def anns(found: Runner) -> Run:
    """A run of Ann's with a kernel of Triton's."""
    run = found.store.open(add_scenario(found.store.home, "target_h100"))
    run.write_status(replace(run.status(), kind="run", by="ann"))
    return run


def kernel_of(run: Run) -> str:
    compilations = open_report(run).compilations
    return next(
        kernel.id for compilation in compilations for kernel in compilation.kernels if kernel.language == "triton"
    )
