"""Sweeps that are started, killed, cancelled and resumed: each cell is measured once.

The engine is a fake, here or elsewhere.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core import AccessError, CompileJob, JobError, Limits, Model, Run, Runner, Store, WorkerError
from core.runs.people import ReachedLimit
from core.runs.processes.handles import process_handle
from core.sweep.model import Axis
from core.sweep.runner import SweepRunner, new_sweep
from core.sweep.store import SweepStore
from core.views.sweep import SweepView
from tests.support.engines import PromptEngine, until
from tests.support.places import ROOT

CODE = Model("code", "# é\nmodel = abs\r\ninputs = (1,)\n")
BATCH_SEED = (Axis("batch", tuple(range(1, 21))), Axis("seed", tuple(range(10))))
SERVER = """
import sys, time
from pathlib import Path
from tests.core.sweep.test_sweep_runner import BATCH_SEED, CODE, sweeper
from core import CompileJob
from core.sweep.runner import new_sweep
from tests.support.places import ROOT
from tests.support.engines import Cluster, Elsewhere, PromptEngine, FakeSite
from tests.support.ray_site import server_at

if sys.argv[2] == "elsewhere":
    FakeSite.new_site = lambda: Elsewhere(Cluster())
elif sys.argv[2] != "here":
    FakeSite.new_site = lambda: server_at(sys.argv[2])
engine = PromptEngine(hold_after=30)
sweep = sweeper(Path(sys.argv[1]), engine).start(new_sweep(CompileJob(CODE), BATCH_SEED))
while len(engine.started) < 31:
    time.sleep(0.01)
print(sweep.id, flush=True)
time.sleep(600)
"""
PARENT = process_handle(psutil.Process(os.getppid()))
FOUR = (Axis("backend", ("eager", "inductor")), Axis("batch", (1, 2)))


pytestmark = pytest.mark.usefixtures("any_site")


def sweeper(home: Path, engine: PromptEngine, **options: object) -> SweepRunner:
    """What a server has over a home; one more over the same home is a server that was started again."""
    return SweepRunner(Runner(Store(home), engine, **options), poll_s=0.001)  # type: ignore[arg-type]


def done_runs(found: SweepRunner) -> Counter[tuple[int, int]]:
    """How often each cell was measured, over all runs that there are."""
    jobs = [run.job() for run, status in found.runner.store.list() if status.state == "done"]
    return Counter((job.sizes["batch"], job.seed) for job in jobs if job is not None)


@pytest.mark.long
def test_two_hundred_cells_survive_a_killed_server_a_killed_worker_cancel_and_resume(
    tmp_path: Path, any_site: str
) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path), any_site], cwd=ROOT, stdout=subprocess.PIPE)
    assert server.stdout is not None
    sweep_id = server.stdout.readline().decode().strip()
    server.kill()
    server.communicate()
    sweep = SweepStore(Store(tmp_path)).open(sweep_id)
    assert len(list(filter(None, sweep.runs))) == 31

    killed: list[Run] = []

    def end(run: Run) -> str:
        if killed:
            return "done"
        killed.append(run)
        return "killed"

    engine = PromptEngine(end, hold_after=70)
    second = sweeper(tmp_path, engine)
    assert second.standing(second.store.open(sweep.id)).state == "interrupted"
    assert second.resume_interrupted() == (sweep.id,)
    until(lambda: len(engine.started) == 71)
    second.cancel(sweep.id)
    second.wait(sweep.id)
    assert (killed[0].status().state, second.standing(second.store.open(sweep.id)).state) == (
        "interrupted",
        "cancelled",
    )

    third = sweeper(tmp_path, PromptEngine())
    assert third.resume_interrupted() == ()
    third.resume(sweep.id)
    third.wait(sweep.id)
    found = third.standing(third.store.open(sweep.id))
    assert (found.state, found.done, found.failed, found.total, found.reason) == ("done", 200, 0, 200, "")
    assert done_runs(third) == Counter({(batch, seed): 1 for batch in range(1, 21) for seed in range(10)})


def test_cells_are_run_in_their_order_and_never_two_at_once_on_a_device(tmp_path: Path) -> None:
    engine = PromptEngine()
    found = sweeper(tmp_path, engine, parallel=4)
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    jobs = [run.job() for run in engine.started]
    assert [(job.compile.backend, job.sizes["batch"]) for job in jobs if job] == [
        ("eager", 1),
        ("eager", 2),
        ("inductor", 1),
        ("inductor", 2),
    ]
    assert {len(devices) for devices in engine.at_once} == {1}
    assert {job.sweep for job in jobs if job} == {sweep.id}


def test_each_of_several_devices_has_a_worker_of_its_own(tmp_path: Path) -> None:
    engine = PromptEngine(hold_after=0)
    found = sweeper(tmp_path, engine)
    axes = (Axis("device", ("cuda:0", "cuda:1")), Axis("batch", (1, 2)))
    sweep = found.start(new_sweep(CompileJob(CODE), axes))
    until(lambda: len(engine.started) == 2)
    assert sorted(engine.at_once[-1]) == ["cuda:0", "cuda:1"]
    engine.end(engine.started[1])
    until(lambda: len(engine.started) == 3)
    assert sorted(engine.at_once[-1]) == ["cuda:0", "cuda:1"]
    found.cancel(sweep.id)
    found.wait(sweep.id)


def test_failed_cell_stays_failed_unless_it_is_wanted_again(tmp_path: Path) -> None:
    engine = PromptEngine(lambda run: "failed" if run.job().sizes["batch"] == 2 else "done")  # type: ignore[union-attr]
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (standing.state, standing.done, standing.failed, standing.left_s) == ("done", 2, 2, None)
    assert [row.error for row in found.rows(found.store.open(sweep.id))] == ["", "a failure", "", "a failure"]
    engine.outcome = lambda run: "done"
    found.resume(sweep.id)
    found.wait(sweep.id)
    assert len(engine.started) == 4
    found.resume(sweep.id, again=True)
    found.wait(sweep.id)
    assert (len(engine.started), found.standing(found.store.open(sweep.id)).done) == (6, 4)


@pytest.mark.parametrize("how", ["killed", "SIGKILL"])
def test_cell_whose_worker_is_always_killed_is_left_and_the_others_are_gone_through(tmp_path: Path, how: str) -> None:
    engine = PromptEngine(lambda run: how if run.job().sizes["batch"] == 1 else "done")  # type: ignore[union-attr]
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2)),)))
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (len(engine.started), standing.state, standing.done) == (4, "stopped", 1)
    assert standing.reason == "1 cell was cut short; resume to make them anew"
    engine.outcome = lambda run: "done"
    found.resume(sweep.id)
    found.wait(sweep.id)
    assert (len(engine.started), found.standing(found.store.open(sweep.id)).state) == (5, "done")


def test_cell_that_crashes_by_itself_has_failed(tmp_path: Path) -> None:
    engine = PromptEngine(lambda run: "SIGSEGV")
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2)),)))
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (len(engine.started), standing.state, standing.failed) == (2, "done", 2)


def test_a_deleted_run_is_made_anew_when_the_sweep_is_resumed(tmp_path: Path) -> None:
    engine = PromptEngine()
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    found.runner.store.delete(engine.started[1])
    assert [row.state for row in found.rows(found.store.open(sweep.id))] == ["done", "waiting", "done", "done"]
    found.resume(sweep.id)
    found.wait(sweep.id)
    assert [run.job().sizes["batch"] for run in engine.started[4:]] == [2]  # type: ignore[union-attr]


def test_two_processes_do_not_go_through_one_sweep(tmp_path: Path) -> None:
    engine = PromptEngine(hold_after=0)
    first, second = sweeper(tmp_path, engine), sweeper(tmp_path, PromptEngine())
    sweep = first.start(new_sweep(CompileJob(CODE), FOUR))
    until(lambda: len(engine.started) == 1)
    with pytest.raises(WorkerError, match="already running, here or in another process"):
        second.resume(sweep.id)
    with pytest.raises(WorkerError, match="already running, here or in another process"):
        second.store.delete(sweep.id)
    second.cancel(sweep.id)
    first.wait(sweep.id)
    assert second.standing(second.store.open(sweep.id)).state == "cancelled"


@pytest.mark.not_on_ray("the time left is computed from the server's clock, which the fake's seconds do not move")
def test_partial_table_shows_what_is_done_what_runs_and_how_long_it_may_take(tmp_path: Path) -> None:
    engine = PromptEngine(hold_after=1)
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    until(lambda: len(engine.started) == 2)
    stored = found.store.open(sweep.id)
    rows = found.rows(stored)
    assert [(row.at, row.state) for row in rows] == [
        (("eager", "1"), "done"),
        (("eager", "2"), "running"),
        (("inductor", "1"), "waiting"),
        (("inductor", "2"), "waiting"),
    ]
    standing = found.standing(stored, rows)
    assert (standing.state, standing.done, standing.now, standing.left_s) == ("going", 1, (("eager", "2"),), 4.0)
    found.cancel(sweep.id)
    found.wait(sweep.id)


def test_sweep_of_changed_code_is_not_resumed(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("model = abs\ninputs = (1,)\n")
    found = sweeper(tmp_path / "home", PromptEngine())
    sweep = found.start(new_sweep(CompileJob(Model("file", str(file))), FOUR))
    found.wait(sweep.id)
    file.write_text("model = abs\ninputs = (2,)\n")
    with pytest.raises(JobError, match="the code has changed since this sweep started"):
        found.resume(sweep.id)


def test_sweep_whose_code_is_changed_while_it_goes_on_stops(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("model = abs\ninputs = (1,)\n")
    engine = PromptEngine(hold_after=1)
    found = sweeper(tmp_path / "home", engine)
    sweep = found.start(new_sweep(CompileJob(Model("file", str(file))), FOUR))
    until(lambda: len(engine.started) == 2)
    file.write_text("model = abs\ninputs = (2,)\n")
    engine.end(engine.started[1])
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (standing.state, standing.done, len(engine.started)) == ("stopped", 2, 2)
    assert standing.reason == "model: the code was changed while the sweep went on; start another one"


def test_a_cell_that_is_run_again_by_hand_is_no_cell(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine())
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2)),)))
    found.wait(sweep.id)
    cell = found.runner.store.open(found.store.open(sweep.id).runs[0]).job()
    assert cell is not None
    assert cell.sweep == sweep.id
    again = found.runner.submit(cell)
    assert again.job() == replace(cell, sweep="")
    assert new_sweep(cell, (Axis("seed", (1,)),)).base.sweep == ""


def test_sweep_that_cannot_be_right_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    engine = PromptEngine()
    found = sweeper(tmp_path, engine, code_allowed=lambda: False)
    with pytest.raises(JobError, match="only samples are compiled"):
        found.start(new_sweep(CompileJob(CODE), FOUR))
    with pytest.raises(JobError, match="there is no sample"):
        found.start(new_sweep(CompileJob(Model("sample", "mlp")), (Axis("code", ("mlp", "no_such")),)))
    assert (found.store.list(), engine.started) == ([], [])


def test_a_visitors_sweep_has_no_more_cells_than_the_runs_they_may_store(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine(), limits=Limits(runs=3, live_runs=1))
    with pytest.raises(AccessError, match="4 cells are more than the 3 runs"):
        found.start(new_sweep(CompileJob(CODE), FOUR), by="a guest")
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2, 3)),)), by="a guest")
    found.wait(sweep.id)
    assert (found.standing(found.store.open(sweep.id)).done, found.store.open(sweep.id).by) == (3, "a guest")


def test_sweep_without_room_for_its_next_cell_stops_and_says_why(tmp_path: Path) -> None:
    engine = PromptEngine(hold_after=0)
    found = sweeper(tmp_path, engine, limits=Limits(runs=3))
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2, 3)),)), by="a guest")
    until(lambda: len(engine.started) == 1)
    for seed in (1, 2):
        found.runner.submit(CompileJob(CODE, seed=seed), "a guest")
    engine.end(engine.started[0])
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (standing.state, standing.done) == ("stopped", 1)
    assert standing.reason.startswith("3 of your runs are stored")


def test_a_sweep_whose_visitor_has_started_enough_says_until_when_it_waits(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine(), limits=Limits(runs_an_hour=2))
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2, 3)),)), by="a guest")
    until(lambda: found.store.open(sweep.id).waits is not None)
    waiting = found.store.open(sweep.id)
    assert waiting.waits is not None
    assert waiting.waits.until_s is not None
    assert 3_590 < waiting.waits.until_s - waiting.created_s < 3_660
    assert replace(waiting.waits, until_s=None) == ReachedLimit("runs an hour", 2, 2)
    view = SweepView(waiting, found.rows(waiting), found.standing(waiting), "", lambda: None)
    at = time.strftime("at %H:%M", time.localtime(waiting.waits.until_s + 59))
    words = f"2 of 3 cells done · waits: 2 of 2 runs an hour for one person; the next {at}"
    assert view.progress(5.0).replace("\\", "") == words
    assert [row["state"] for row in view.table] == ["done", "done", f"starts {at}"]
    found.cancel(sweep.id)
    found.wait(sweep.id)
    ended = found.store.open(sweep.id)
    assert (ended.waits, found.standing(ended).state) == (None, "cancelled")


def test_sweep_of_a_live_process_of_another_is_alive(tmp_path: Path) -> None:
    found = sweeper(tmp_path, PromptEngine())
    sweep = found.start(new_sweep(CompileJob(CODE), FOUR))
    found.wait(sweep.id)
    assert found.standing(replace(found.store.open(sweep.id), handle=PARENT)).state == "going"
