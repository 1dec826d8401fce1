"""Handles: owners that are alive, gone, of another engine, or stored by an earlier version."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, StoreError, WorkerError, new_sweep, parse_axis
from core.runs.processes.handles import LOCAL, process_handle, start_time_s, supervisor_of
from core.runs.status import Status
from core.sweep.runner import SweepRunner
from tests.support.engines import Cluster, Elsewhere, FakeEngine, FakeSite, PromptEngine, until

JOB = CompileJob(Model("sample", "mlp"), measure=False)
GONE = {"pid": 2**22 + 1, "pid_created_s": 1.0}


def me() -> dict[str, float]:
    return {"pid": os.getpid(), "pid_created_s": start_time_s(psutil.Process())}


def as_watcher(owner: dict[str, float]) -> dict[str, float]:
    return {"watcher_pid": owner["pid"], "watcher_created_s": owner["pid_created_s"]}


@pytest.mark.parametrize(
    ("owner", "state"),
    [(me(), "running"), (GONE, "interrupted"), ({**GONE, **as_watcher(me())}, "running"), ({}, "running"),
     ({**GONE, **as_watcher(GONE)}, "interrupted"), ({**me(), "pid_created_s": 1.0}, "interrupted")],
)  # fmt: skip
def test_a_status_of_an_earlier_version_has_its_owner(tmp_path: Path, owner: dict[str, float], state: str) -> None:
    run = Store(tmp_path).create(JOB)
    (run.path / "status.json").write_text(json.dumps({"state": "running", "created_s": 1.0, **owner}))
    assert [status.state for _, status in Store(tmp_path).list()] == [state]


def test_a_sweep_of_an_earlier_version_has_its_executor(tmp_path: Path) -> None:
    sweeps = SweepRunner(Runner(Store(tmp_path), PromptEngine()))
    sweep = sweeps.store.create(new_sweep(JOB, (parse_axis("seed=1,2"),)))
    path = sweeps.store.path(sweep.id) / "sweep.json"
    stored = json.loads(path.read_bytes())
    parent = psutil.Process(os.getppid())
    for owner, state in ({"pid": parent.pid, "pid_created_s": start_time_s(parent)}, "going"), (GONE, "interrupted"):
        path.write_text(json.dumps({key: value for key, value in stored.items() if key != "handle"} | owner))
        assert sweeps.standing(sweeps.store.open(sweep.id)).state == state


def test_an_owner_is_alive_as_long_as_it_or_its_watcher_is() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        watched, alone = process_handle(process, psutil.Process()), process_handle(process)
        assert (LOCAL.is_alive(watched), LOCAL.is_alive(alone)) == (True, True)
        assert supervisor_of(Status("running", 0.0, handle=watched)) == process
        assert supervisor_of(Status("queued", 0.0, handle=LOCAL.local_handle())) is None
        child.communicate()
    assert (LOCAL.is_alive(watched), LOCAL.is_alive(alone)) == (True, False)
    assert supervisor_of(Status("running", 0.0, handle=watched)) is None


@pytest.mark.parametrize(
    "handle", ["", "1", "local:", "local:x", "local:1", "local:9999999999@1.00", "ray", "\0:\0", ":"]
)
def test_what_is_no_handle_is_nobodys(handle: str) -> None:
    assert not LOCAL.is_alive(handle)


def test_an_owner_that_ends_while_it_is_looked_for_has_ended_as_it_says(tmp_path: Path) -> None:
    class Ending(Elsewhere):
        def is_alive(self, handle: str) -> bool:
            assert handle
            run.write_status(replace(run.written_status(), state="done", handle=""))
            return False

    run = Store(tmp_path).with_liveness(Ending(Cluster())).create(JOB)
    assert (run.status().state, run.status().handle) == ("done", "")


def test_a_run_elsewhere_outlives_its_server_and_is_deleted_only_once_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    monkeypatch.setattr(FakeSite, "new_site", lambda: Elsewhere(cluster))
    engine = FakeEngine()
    first, second = Runner(Store(tmp_path), engine), Runner(Store(tmp_path), FakeEngine())
    going, waiting = first.submit(JOB), first.submit(JOB)
    until(lambda: engine.started == [going])
    assert isinstance(engine.site, Elsewhere)
    engine.site.disconnect()
    seen = {run.id: status.state for run, status in second.store.list()}
    assert seen == {going.id: "running", waiting.id: "interrupted"}
    with pytest.raises(StoreError, match="cancel it first"):
        second.store.delete(second.store.open(going.id))
    engine.site.gone(going)
    second.store.delete(second.store.open(going.id))
    second.store.delete(second.store.open(waiting.id))
    assert second.store.list() == []


def test_a_run_of_another_engine_is_neither_lost_nor_cancelled_nor_deleted_here(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.create(JOB)
    run.write_status(Status("running", 1.0, handle="ray:node-7/actor-3"))
    engine = LocalEngine(store.cache_dir)
    assert Runner(store, engine).store.open(run.id).status().state == "running"
    with pytest.raises(WorkerError, match="belongs to the engine `ray`"):
        engine.cancel(run)
    with pytest.raises(StoreError, match="cancel it first"):
        store.delete(run)
