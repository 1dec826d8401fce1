"""The clock of the machine is set, forwards or back: who lives is still known, and no age is negative."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core import CompileJob, Model, Run, Store, StoreError, new_sweep
from core.base.words import ago
from core.runs.processes.handles import LOCAL, process_handle, start_time_s
from core.sweep.model import parse_axis
from core.sweep.store import SweepStore

JOB = CompileJob(Model("sample", "mlp"))
STEPS_S = (3.0, 7_200.0, -7_200.0, 10 * 365 * 86_400.0)
SetClock = Callable[[float], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Sets the time of the day by some seconds, as the kernel does it: the time at which it was started moves along."""
    now, booted = time.time, psutil._pslinux.boot_time

    def step(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: now() + seconds)
        monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: booted() + seconds)

    return step


pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems tell when a process was made by the clock"
)


@pytest.mark.promise("runs")
@pytest.mark.parametrize("step_s", STEPS_S)
def test_a_run_that_waits_is_live_whatever_the_clock_says(tmp_path: Path, set_clock: SetClock, step_s: float) -> None:
    """A queued run stays queued and cannot be deleted after the clock was set."""
    store = Store(tmp_path)
    run = store.create(JOB)
    set_clock(step_s)
    assert (run.status().state, [status.state for _, status in Store(tmp_path).list()]) == ("queued", ["queued"])
    with pytest.raises(StoreError, match="cancel it first"):
        store.delete(run)


@pytest.mark.promise("runs")
@pytest.mark.parametrize("step_s", STEPS_S)
def test_another_process_is_known_again_and_one_that_has_ended_is_not(set_clock: SetClock, step_s: float) -> None:
    """A process is recognised by its start time, also after the clock was set."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        child = psutil.Process(process.pid)
        handle, later = process_handle(child), f"local:{child.pid}@{start_time_s(child) + 10:.2f}"
        before = LOCAL.is_alive(handle)
        set_clock(step_s)
        assert (before, LOCAL.is_alive(handle), LOCAL.is_alive(later)) == (True, True, False)
        process.communicate()
    assert not LOCAL.is_alive(handle)


def test_a_process_of_another_start_of_the_machine_is_another() -> None:
    me = psutil.Process()
    since_boot_s = me.create_time() - psutil.boot_time()
    assert not LOCAL.is_alive(f"local:{me.pid}@{since_boot_s:.2f}")
    assert LOCAL.is_alive(f"local:{me.pid}@{me.create_time():.2f}")


@pytest.mark.parametrize("step_s", STEPS_S)
def test_what_is_stored_is_listed_swept_and_deleted(tmp_path: Path, set_clock: SetClock, step_s: float) -> None:
    store = Store(tmp_path)
    run = store.create(JOB)
    run.write_status(replace(run.status(), state="done", handle=""))
    sweeps = SweepStore(store)
    sweep = sweeps.create(new_sweep(JOB, (parse_axis("seed=1,2"),)))
    set_clock(step_s)
    later: Run = Store(tmp_path).open(run.id)
    assert [found.id for found in SweepStore(Store(tmp_path)).list()] == [sweep.id]
    Store(tmp_path).delete(later)
    SweepStore(Store(tmp_path)).delete(sweep.id)
    assert (store.list(), sweeps.list()) == ([], [])


@pytest.mark.parametrize(("before_s", "words"), [(3_600.0, "just now"), (-3_600.0, "1 hour ago"), (1e10, "just now")])
def test_what_is_later_than_now_was_just_now(before_s: float, words: str) -> None:
    assert ago(1e9 + before_s, 1e9) == words
