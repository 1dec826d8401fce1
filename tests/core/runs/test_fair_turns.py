"""Several visitors' runs in one queue: the runner says whose each is, and each run's position is when it will start."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, Environment, Model, Run, Runner, Store
from core.runs.engine import Assignment

WAIT_S = 120.0


class RecordingEngine:
    """Starts runs by remembering their assignments, in order; a test ends the last one."""

    def __init__(self) -> None:
        self.started: list[Assignment] = []
        self._ended: Callable[[], None] = lambda: None

    def prepare(self, _assignment: Assignment) -> None:
        return

    def lacks(self, _assignment: Assignment) -> str:
        return ""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        run = assignment.run
        run.write_status(replace(run.status(), state="running"))
        self._ended = ended
        self.started.append(assignment)

    def end(self) -> None:
        run = self.started[-1].run
        run.write_status(replace(run.status(), state="done", pid=None))
        self._ended()

    def cancel(self, _run: Run) -> None:
        return

    def warm_up(self) -> None:
        return

    def environment(self) -> Environment:
        return Environment()

    def close(self) -> None:
        return


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def engine() -> RecordingEngine:
    return RecordingEngine()


@pytest.fixture
def runner(tmp_path: Path, engine: RecordingEngine) -> Runner:
    return Runner(Store(tmp_path), engine)


def submitted(runner: Runner, engine: RecordingEngine, visitors: str) -> list[Run]:
    """A run of each visitor in this order; the first has started."""
    runs = []
    for seed, by in enumerate(visitors):
        runs.append(runner.submit(CompileJob(Model("sample", "mlp"), seed=seed, measure=False), by=by))
        until(lambda: len(engine.started) == 1)
    return runs


def all_ended(engine: RecordingEngine, count: int) -> list[Assignment]:
    """The assignments in the order of their start, once each has ended."""
    for number in range(count):
        until(lambda: len(engine.started) == number + 1)  # noqa: B023
        engine.end()
    return engine.started


def test_a_visitor_waits_for_one_run_of_another_however_many_are_queued(
    runner: Runner, engine: RecordingEngine
) -> None:
    a1, a2, a3, a4, b1, c1, b2 = runs = submitted(runner, engine, "aaaabcb")
    assert [runner.position(run) for run in runs] == [None, 1, 4, 6, 2, 3, 5]
    started = all_ended(engine, len(runs))
    assert [(item.run, item.by) for item in started] == [
        (a1, "a"), (a2, "a"), (b1, "b"), (c1, "c"), (a3, "a"), (b2, "b"), (a4, "a"),
    ]  # fmt: skip


def test_cells_of_a_sweep_take_turns_with_the_runs_of_others(runner: Runner, engine: RecordingEngine) -> None:
    cells = [
        runner.admit(CompileJob(Model("sample", "mlp"), seed=seed, measure=False, sweep="mine"), by="a")
        for seed in range(4)
    ]
    until(lambda: len(engine.started) == 1)
    other = runner.submit(CompileJob(Model("sample", "mlp"), seed=9, measure=False), by="b")
    assert [runner.position(run) for run in [*cells, other]] == [None, 1, 3, 4, 2]


def test_a_visitors_later_runs_move_up_where_one_is_cancelled(runner: Runner, engine: RecordingEngine) -> None:
    runs = submitted(runner, engine, "aaaabb")
    runner.cancel(runs[4])
    assert [runner.position(run) for run in runs] == [None, 1, 3, 4, None, 2]
