"""One store under several processes: two dashboards, a command line that is ended, and a store that is deleted
meanwhile.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of two servers."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def servers(shared: Path) -> Iterator[tuple[Server, Server]]:
    """Two servers over one store, which leave nothing when they end."""
    servers = Server(shared), Server(shared)
    yield servers
    assert [process for server in servers for process in server.end()] == []


@pytest.mark.long
@pytest.mark.attack("kill 17", "two servers run, cancel and delete on one store")
def test_two_servers_share_a_store(shared: Path, servers: tuple[Server, Server]) -> None:
    one, other = servers
    store = Store(shared)
    runs = [server.submit(FINE, "eager") for _ in range(3) for server in servers]
    assert [ended(store, run.id) for run in runs] == ["done"] * 6

    sleeping = one.submit(SLEEPS, "eager")
    assert until(lambda: store.open(sleeping.id).status().state == "running")
    with pytest.raises(StoreError):
        store.delete(sleeping)
    other.cancel(sleeping)
    assert ended(store, sleeping.id) == "cancelled"
    store.delete(sleeping)


@pytest.mark.long
@pytest.mark.attack("kill 16", "the store is deleted while its server goes on")
def test_a_store_that_is_deleted_is_made_anew(shared: Path, servers: tuple[Server, Server]) -> None:
    server, _ = servers
    first = server.submit(FINE, "eager")
    assert ended(Store(shared), first.id) == "done"
    shutil.rmtree(shared / "runs")

    second = server.submit(FINE, "eager")
    assert ended(Store(shared), second.id) == "done"
    assert [run.id for run, _ in Store(shared).list()] == [second.id]


@pytest.mark.attack("kill 8", "the command line is interrupted, terminated and killed while a model runs")
@pytest.mark.parametrize(
    ("number", "code", "state"),
    [
        pytest.param(signal.SIGINT, 130, "cancelled", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, -signal.SIGTERM, "interrupted", marks=pytest.mark.long),
        (signal.SIGKILL, -signal.SIGKILL, "interrupted"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.usefixtures("interrupted_as_in_a_terminal")
def test_a_command_line_that_is_ended_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    link_cache(tmp_path, CACHE)
    model = tmp_path / "sleeps.py"
    model.write_text(SLEEPS, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "run", str(model), "--backend", "eager"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
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
