"""One store under several processes: two dashboards, a command line that is ended, and a store that is deleted
meanwhile.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from core import Store, StoreError
from tests.attack.kills import Server, gone, until
from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT

pytestmark = pytest.mark.torch

SLEEPS = "import time\ndef model(x):\n    time.sleep(100)\n    return x\ninputs = (1,)"
FINE = "model = abs\ninputs = (1,)"


def ended(store: Store, run_id: str) -> str:
    """The state of a run, once it is over."""
    assert until(lambda: not store.open(run_id).status().live)
    return store.open(run_id).status().state


@pytest.mark.attack("kill 17", "two servers run, cancel and delete on one store")
def test_two_servers_share_a_store(tmp_path: Path) -> None:
    one, other = Server(tmp_path), Server(tmp_path)
    store = Store(tmp_path)
    try:
        runs = [server.submit(FINE, "eager") for _ in range(3) for server in (one, other)]
        assert [ended(store, run.id) for run in runs] == ["done"] * 6

        sleeping = one.submit(SLEEPS, "eager")
        assert until(lambda: store.open(sleeping.id).status().state == "running")
        with pytest.raises(StoreError):
            store.delete(sleeping)
        other.cancel(sleeping)
        assert ended(store, sleeping.id) == "cancelled"
        store.delete(sleeping)
    finally:
        assert [*one.end(), *other.end()] == []


@pytest.mark.attack("kill 16", "the store is deleted while its server goes on")
def test_a_store_that_is_deleted_is_begun_anew(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        first = server.submit(FINE, "eager")
        assert ended(Store(tmp_path), first.id) == "done"
        shutil.rmtree(tmp_path / "runs")

        second = server.submit(FINE, "eager")
        assert ended(Store(tmp_path), second.id) == "done"
        assert [run.id for run, _ in Store(tmp_path).list()] == [second.id]
    finally:
        assert server.end() == []


@pytest.mark.attack("kill 8", "the command line is interrupted, terminated and killed while a model runs")
@pytest.mark.parametrize(
    ("number", "code", "state"),
    [
        (signal.SIGINT, 130, "cancelled"),
        (signal.SIGTERM, -signal.SIGTERM, "interrupted"),
        (signal.SIGKILL, -signal.SIGKILL, "interrupted"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_command_line_that_is_ended_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    link_cache(tmp_path, CACHE)
    model = tmp_path / "sleeps.py"
    model.write_text(SLEEPS, encoding="utf-8")
    # Tests that a shell runs in the background ignore SIGINT, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "run", str(model), "--backend", "eager"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    signal.signal(signal.SIGINT, before)
    store = Store(tmp_path)
    try:
        assert until(lambda: [status.state for _, status in store.list()] == ["running"])
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        assert process.wait() == code
    finally:
        process.kill()
        process.wait()
    assert gone(family) == []
    assert [status.state for _, status in store.list()] == [state]
