"""Several visitors' runs in one queue: the runner says whose each is, and each run's position is when it will start."""

from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, Store
from tests.support.engines import FakeEngine, until


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def runner(tmp_path: Path, engine: FakeEngine) -> Runner:
    return Runner(Store(tmp_path), engine)


def submitted(runner: Runner, engine: FakeEngine, visitors: str) -> list[Run]:
    """A run of each visitor in this order; the first has started."""
    runs = []
    for seed, by in enumerate(visitors):
        runs.append(runner.submit(CompileJob(Model("sample", "mlp"), seed=seed, measure=False), by=by))
        until(lambda: len(engine.started) == 1)
    return runs


def all_ended(engine: FakeEngine, count: int) -> list[tuple[Run, str]]:
    """The runs in the order of their start, each with its visitor, once each has ended."""
    for number in range(count):
        until(lambda: len(engine.started) == number + 1)  # noqa: B023
        engine.end(number)
    return list(zip(engine.started, engine.visitors, strict=True))


def test_a_visitor_waits_for_one_run_of_another_however_many_are_queued(runner: Runner, engine: FakeEngine) -> None:
    a1, a2, a3, a4, b1, c1, b2 = runs = submitted(runner, engine, "aaaabcb")
    assert [runner.position(run) for run in runs] == [None, 1, 4, 6, 2, 3, 5]
    assert all_ended(engine, len(runs)) == [
        (a1, "a"), (a2, "a"), (b1, "b"), (c1, "c"), (a3, "a"), (b2, "b"), (a4, "a"),
    ]  # fmt: skip


def test_cells_of_a_sweep_take_turns_with_the_runs_of_others(runner: Runner, engine: FakeEngine) -> None:
    cells = [
        runner.admit(CompileJob(Model("sample", "mlp"), seed=seed, measure=False, sweep="mine"), by="a")
        for seed in range(4)
    ]
    until(lambda: len(engine.started) == 1)
    other = runner.submit(CompileJob(Model("sample", "mlp"), seed=9, measure=False), by="b")
    assert [runner.position(run) for run in [*cells, other]] == [None, 1, 3, 4, 2]


def test_a_visitors_later_runs_move_up_where_one_is_cancelled(runner: Runner, engine: FakeEngine) -> None:
    runs = submitted(runner, engine, "aaaabb")
    runner.cancel(runs[4])
    assert [runner.position(run) for run in runs] == [None, 1, 3, 4, None, 2]
