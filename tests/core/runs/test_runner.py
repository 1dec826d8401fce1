"""The runner: the queue, its bound, cancelling, and runs that are there already.

The engine is a fake, here or elsewhere.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, JobError, Model, Run, Runner, Store, WorkerError
from core.job import FILE_SETTINGS
from core.job.prepared import prepared
from core.runs.runner import Wait
from core.sweep.store import was_killed
from tests.support.engines import FakeEngine, SlowToSay, until

pytestmark = pytest.mark.usefixtures("any_site")

# A model and its inputs, without which code is a script.
GIVEN = "model, inputs = abs, (1,)\n"


def job(seed: int = 0) -> CompileJob:
    return CompileJob(Model("sample", "mlp"), seed=seed, measure=False)


def submitted(store: Store, engine: FakeEngine, count: int, parallel: int = 1) -> tuple[Runner, list[Run]]:
    """A runner with runs in its queue, of which as many have started as may."""
    runner = Runner(store, engine, parallel)
    runs = [runner.submit(job(seed)) for seed in range(count)]
    until(lambda: len(engine.started) == min(count, parallel))
    return runner, runs


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_runs_start_in_the_order_of_their_submission(store: Store) -> None:
    engine = FakeEngine()
    _, runs = submitted(store, engine, 3)
    for index in range(3):
        until(lambda: len(engine.started) > index)  # noqa: B023
        engine.end(index)
    assert engine.started == runs


def test_no_more_run_at_once_than_the_bound_allows(store: Store) -> None:
    engine = FakeEngine()
    runner, runs = submitted(store, engine, 4, parallel=2)
    # Two that may both go are started side by side.
    assert {run.id for run in engine.started} == {run.id for run in runs[:2]}
    assert [runner.position(run) for run in runs] == [None, None, 2, 3]
    engine.end(1)
    assert engine.started[2:] == [runs[2]]


def test_queued_run_is_cancelled_without_a_start(store: Store) -> None:
    engine = FakeEngine()
    runner, runs = submitted(store, engine, 3)
    runner.cancel(runs[1])
    engine.end(0)
    assert (runs[1].status().state, runs[1].status().reason) == ("cancelled", "cancelled before it started")
    assert engine.started == [runs[0], runs[2]]
    assert engine.cancelled == []


def test_running_run_is_cancelled_by_the_engine(store: Store) -> None:
    engine = FakeEngine()
    runner, runs = submitted(store, engine, 1)
    runner.cancel(runs[0])
    until(lambda: engine.cancelled == runs)
    engine.end(0, "cancelled")
    assert runs[0].status().state == "cancelled"


def test_what_another_server_runs_is_cancelled_by_the_engine_and_what_it_has_queued_stays(store: Store) -> None:
    engine = FakeEngine()
    _, (running, queued) = submitted(store, engine, 2)
    other = FakeEngine()
    Runner(store, other).cancel(running)
    with pytest.raises(WorkerError, match="the queue of another server"):
        Runner(store, other).cancel(queued)
    assert (other.cancelled, queued.status().state) == ([running], "queued")


def test_while_torch_is_started_for_a_run_the_others_are_answered_and_it_says_what_it_waits_for(store: Store) -> None:
    engine = FakeEngine(slow=0)
    runner = Runner(store, engine)
    runs = [runner.submit(job(seed)) for seed in (0, 1)]
    until(lambda: runner.waits_for(runs[0]) == Wait(starts="torch for CUDA"))
    assert (runner.waits_for(runs[1]), runner.position(runs[0])) == (Wait(earlier=1), None)
    assert Runner(store, FakeEngine()).waits_for(runs[1]) == Wait(is_elsewhere=True)
    assert runs[0].status().state == "queued"
    engine.release.set()
    until(lambda: engine.started == runs[:1])
    assert runner.waits_for(runs[0]) == Wait()


def test_run_cancelled_while_torch_is_started_for_it_never_starts_and_makes_room(store: Store) -> None:
    engine = FakeEngine(slow=0)
    runner = Runner(store, engine)
    runs = [runner.submit(job(seed)) for seed in (0, 1)]
    until(lambda: runner.waits_for(runs[0]).starts != "")
    runner.cancel(runs[0])
    assert (runs[0].status().state, runs[0].status().reason) == ("cancelled", "cancelled before it started")
    until(lambda: engine.started == runs[1:])
    engine.release.set()
    engine.end(0)
    third = runner.submit(job(2))
    until(lambda: engine.started == [runs[1], third])
    assert (runs[0].status().state, engine.cancelled) == ("cancelled", [])


def test_run_cancelled_before_the_engine_says_that_it_runs_is_ended_by_the_engine(store: Store) -> None:
    runner, runs = submitted(store, engine := SlowToSay(), 1)
    runner.cancel(runs[0])
    assert (engine.cancelled, runs[0].status().state) == (runs, "running")
    engine.release.set()
    engine.die(0)
    assert runs[0].status().state == "cancelled"


def test_ended_run_is_not_cancelled(store: Store) -> None:
    engine = FakeEngine()
    runner, runs = submitted(store, engine, 1)
    engine.end(0)
    runner.cancel(runs[0])
    assert (engine.cancelled, runs[0].status().state) == ([], "done")


def test_engine_that_cannot_start_a_run_crashes_it_and_says_why(store: Store) -> None:
    runner = Runner(store, FakeEngine("no torch here"))
    for seed in range(2):
        run = runner.wait(runner.submit(job(seed)))
        assert (run.status().state, run.status().reason) == ("crashed", "no torch here")


@pytest.mark.promise("runs")
@pytest.mark.parametrize(("ended_by", "settled"), [(None, True), ("SIGSEGV", True), ("SIGKILL", False)])
def test_a_cell_for_which_torch_was_killed_while_it_started_is_made_again(
    store: Store, ended_by: str | None, settled: bool
) -> None:
    """A sweep repeats a run during whose start torch was killed."""
    runner = Runner(store, FakeEngine("torch could not be started", ended_by=ended_by))
    status = runner.wait(runner.submit(job())).status()
    assert (status.state, status.signal, was_killed(status)) == ("crashed", ended_by, not settled)


def test_run_whose_supervisor_wrote_no_end_is_interrupted_and_makes_room(store: Store) -> None:
    engine = FakeEngine()
    _, runs = submitted(store, engine, 2)
    engine.die(0)
    assert runs[0].status().state == "interrupted"
    assert engine.started == runs


def test_finished_run_of_the_same_job_is_offered(store: Store) -> None:
    engine = FakeEngine()
    runner, runs = submitted(store, engine, 1)
    assert runner.stored(job()) is None
    engine.end(0)
    assert runner.stored(job()) == runs[0]
    assert runner.stored(replace(job(), time_limit_s=5.0)) == runs[0]
    assert runner.stored(job(seed=1)) is None


def test_changed_file_is_not_the_same_job(store: Store, tmp_path: Path) -> None:
    engine = FakeEngine()
    runner = Runner(store, engine)
    file = tmp_path / "mine.py"
    file.write_text("model = abs\ninputs = (1,)\n")
    run = runner.submit(CompileJob(Model("file", str(file))))
    until(lambda: len(engine.started) == 1)
    engine.end(0)
    assert runner.stored(CompileJob(Model("file", str(file)))) == run
    file.write_text("model = abs\ninputs = (2,)\n")
    assert runner.stored(CompileJob(Model("file", str(file)))) is None


def test_run_keeps_the_code_as_it_was(store: Store) -> None:
    code = "# é\nmodel = abs\r\ninputs = (1,)\n"
    run = Runner(store, FakeEngine()).submit(CompileJob(Model("code", code)))
    assert run.model_path.read_bytes().decode() == code


def test_a_repaired_run_keeps_the_code_as_it_was_beside_the_repaired_one(store: Store) -> None:
    code = "import torch\n\n\ndef model(x):\n    return x.item()\n\n\ninputs = (torch.ones(1),)\n"
    engine = FakeEngine()
    runner = Runner(store, engine)
    plain = CompileJob(Model("code", code))
    mended = replace(plain, repairs=(("keep_tensor:5",),), repairs_of="20260101-000000-first-0000")
    run = runner.submit(mended)
    assert run.original_path.read_text() == code
    assert run.model_path.read_text() == code.replace(".item()", "")
    stored = replace(mended, training=False, from_file=FILE_SETTINGS)
    assert (run.job(), run.status().title) == (stored, "pasted code:model repaired")
    until(lambda: len(engine.started) == 1)
    engine.end(0)
    assert runner.stored(replace(mended, repairs_of="")) == run
    assert runner.stored(plain) is None
    assert not runner.submit(plain).original_path.exists()


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("repairs", CompileJob(Model("code", "model = abs"), repairs=(("where:1",),))),
        ("repairs", CompileJob(Model("sample", "mlp"), repairs=(("where:1",) * 65,))),
        ("repairs_of", CompileJob(Model("sample", "mlp"), repairs_of="../x")),
        ("sample", CompileJob(Model("sample", "no_such"))),
        ("model.value", CompileJob(Model("file", "/no/such/file.py"))),
        ("model.value", CompileJob(Model("file", "/"))),
        ("device", CompileJob(Model("sample", "mlp"), device="cudaa")),
        ("device", CompileJob(Model("sample", "mlp"), device="cuda:")),
        ("seed", CompileJob(Model("sample", "mlp"), seed=-1)),
        ("model", CompileJob(Model("code", GIVEN + "torch_compile = {'speed': 9}"))),
        ("compile.mode", CompileJob(Model("code", GIVEN + "torch_compile = {'mode': 'fast'}"))),
    ],
)
def test_wrong_job_is_refused_and_leaves_no_run(store: Store, field: str, wrong: CompileJob) -> None:
    with pytest.raises(JobError) as error:
        Runner(store, FakeEngine()).submit(wrong)
    assert error.value.field == field
    assert store.list() == []


@pytest.mark.parametrize(
    "code", ["torch_compile = {'mode': 3}", "torch_compile = {'options': [1]}", "torch_compile = {'backend': None}",
             "torch_compile = {1: 2}", "training = 'no'", "torch_compile = ['mode']",
             "torch_compile = {'options': {1: 2}}"],
)  # fmt: skip
def test_code_that_asks_for_options_of_the_wrong_type_is_a_job_error(code: str) -> None:
    with pytest.raises(JobError):
        prepared(CompileJob(Model("code", GIVEN + code)))


def test_job_takes_what_its_code_asks_for() -> None:
    code = "training = True\ntorch_compile = {'fullgraph': True}\n"
    found, _ = prepared(CompileJob(Model("code", GIVEN + code)))
    assert (found.training, found.compile) == (True, CompileOptions(fullgraph=True))
    found, _ = prepared(
        CompileJob(Model("code", GIVEN + code), training=False, compile=CompileOptions(backend="eager"))
    )
    assert (found.training, found.compile) == (False, CompileOptions(fullgraph=True, backend="eager"))
