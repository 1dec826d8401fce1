"""Servers over one store that use the same workers: one has the port, and the others go through it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import CompileJob, Model, Runner, Store
from core.base.errors import NodeError, SettingError
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.cluster.workers import SERVERS_TOKEN_FILE, WorkersTransport, listening_socket, token_of
from core.runs.engine.transports.workers import SharedWorkersTransport
from tests.core.runs.engine.test_workers import HELLO, HOST, send, worker
from tests.support.cluster import NodeEngine, kill
from tests.support.engines import until

JOB = CompileJob(Model("sample", "mlp"), measure=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Store(tmp_path / "server").home


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("core.runs.engine.cluster.workers.WAIT_S", 0.2)
    with listening_socket("workers://127.0.0.1:0") as listening:
        return f"workers://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def first(home: Path, address: str) -> Iterator[SharedWorkersTransport]:
    transport = SharedWorkersTransport(address, home)
    yield transport
    transport.close()


def owned(transport: SharedWorkersTransport) -> WorkersTransport:
    """The port of a server that has it."""
    assert transport._own is not None
    return transport._own


def server(home: Path, transport: SharedWorkersTransport) -> Runner:
    return Runner(Store(home), RemoteEngine(Store(home), transport))


def test_the_next_server_carries_its_runs_on_when_the_one_with_the_port_ends(
    first: SharedWorkersTransport, home: Path, address: str, tmp_path: Path
) -> None:
    engine = NodeEngine(hold_after=1)
    one, two = server(home, first), server(home, SharedWorkersTransport(address, home))
    with worker(owned(first), tmp_path / "worker", token_of(home), engine):
        until(lambda: all(len(runner.engine.nodes("cpu")) == 1 for runner in (one, two)))
        assert two.wait(two.submit(JOB)).status().state == "done"
        run = two.submit(JOB)
        until(lambda: len(engine.started) == 2)
        assert isinstance(one.engine, RemoteEngine)
        kill(one.engine)
        engine.end(engine.started[1])
        assert two.wait(run).status().state == "done"
        two.engine.close()


def test_a_host_that_has_not_come_to_the_next_server_yet_is_silent_and_not_lost(
    first: SharedWorkersTransport, home: Path, address: str
) -> None:
    second = SharedWorkersTransport(address, home)
    send(owned(first), token=token_of(home))
    assert first.peers() == second.peers() == {HOST: True}
    first.close()
    assert second.peers() == {HOST: False}
    send(owned(second), token=token_of(home))
    assert second.peers() == {HOST: True}
    send(owned(second), token=token_of(home), method="DELETE")
    assert second.peers() == {}
    second.close()


def test_the_reason_why_a_worker_does_not_answer_comes_through(
    first: SharedWorkersTransport, home: Path, address: str
) -> None:
    second = SharedWorkersTransport(address, home)
    with pytest.raises(NodeError, match="the worker is gone"):
        second.call(HOST, HELLO, 1.0)
    send(owned(first), token=token_of(home))
    with pytest.raises(NodeError, match=r"the worker does not answer within 0\.2 s"):
        second.call(HOST, HELLO, 0.2)


@pytest.mark.promise("cluster")
def test_only_servers_over_the_store_use_its_workers(
    first: SharedWorkersTransport, home: Path, address: str, tmp_path: Path
) -> None:
    """Only servers of the same store can call its workers; a worker's token does not suffice."""
    with pytest.raises(SettingError, match="another server has this port"):
        SharedWorkersTransport(address, Store(tmp_path / "another").home)
    for token in ("", "guess", token_of(home)):
        assert send(owned(first), HELLO, token, f"/hosts/{HOST}?limit_s=1").status == 401
        assert send(owned(first), b"", token, "/hosts", "GET").status == 401
    servers = token_of(home, SERVERS_TOKEN_FILE)
    assert [send(owned(first), HELLO, servers, f"/hosts/{HOST}{query}").status for query in ("", "?limit_s=x")] == [
        400
    ] * 2
    assert send(owned(first), HELLO, servers, f"/work/{HOST}").status == 401
