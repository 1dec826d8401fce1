"""Workers that connect to a server over HTTP: what they are refused, and runs that they execute."""

import http.client
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from core import CompileJob, Model, Runner, Store
from core.base.errors import NodeError, SettingError
from core.commands import open_log as work
from core.runs.engine.cluster import workers
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.messages import ForgetCall, HelloCall, PollCall, packed
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.cluster.workers import (
    MOST_BODY_BYTES,
    TOKEN_FILE,
    Puller,
    WorkerCall,
    WorkerReply,
    WorkersTransport,
    listening_socket,
    token_of,
)
from tests.support.cluster import LOG, NodeEngine, kill
from tests.support.engines import WAIT_S, until

JOB = CompileJob(Model("sample", "mlp"), measure=False)
HOST = "0123456789abcdef"
CONNECTED = "connected; waiting for runs"
HELLO = packed(HelloCall(HOST, HOST))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Store(tmp_path / "server").home


@pytest.fixture
def transport(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkersTransport]:
    monkeypatch.setattr("core.runs.engine.cluster.workers.WAIT_S", 0.5)
    transport = WorkersTransport("workers://127.0.0.1:0", home)
    yield transport
    transport.close()


class Reply(msgspec.Struct):
    status: int
    data: bytes


def send(
    transport: WorkersTransport, body: bytes = b"", token: str = "", path: str = f"/work/{HOST}", method: str = "POST"
) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", transport.port, timeout=WAIT_S)
    connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    reply = Reply(response.status, response.read())
    connection.close()
    return reply


@contextmanager
def worker(
    transport: WorkersTransport,
    home: Path,
    token: str,
    engine: NodeEngine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Host]:
    host, ended = Host(home, engine or NodeEngine(), home.name), threading.Event()
    puller = Puller(f"http://127.0.0.1:{transport.port}", token, host, say)
    thread = threading.Thread(target=puller.run, args=(ended,))
    thread.start()
    try:
        yield host
    finally:
        ended.set()
        thread.join()


@pytest.mark.promise("cluster")
@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("token", ["", "guess", "é"])
def test_a_token_that_is_not_the_servers_is_refused(
    transport: WorkersTransport, home: Path, token: str, method: str
) -> None:
    """A worker without the server's token, which is compared in constant time, is refused."""
    if method == "DELETE":
        send(transport, token=token_of(home))
    peers = transport.peers()
    assert send(transport, token=token, method=method).status == 401
    assert transport.peers() == peers


def test_the_token_is_in_a_file_that_only_its_owner_reads(transport: WorkersTransport, home: Path) -> None:
    assert stat.S_IMODE((home / TOKEN_FILE).stat().st_mode) == 0o600
    assert len(token_of(home)) >= 32
    (home / TOKEN_FILE).write_text("short")
    with pytest.raises(SettingError, match="holds no token"):
        token_of(home)


def test_no_answer_waits_until_the_worker_acknowledges_the_last_one() -> None:
    with (
        listening_socket("workers://127.0.0.1:0") as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("path", "status"), [("/work/x", 404), ("/work/../..", 404), ("/work/0123456789ABCDEF", 404), ("/", 404)]
)
def test_only_hosts_are_answered(transport: WorkersTransport, home: Path, path: str, status: int) -> None:
    assert send(transport, token=token_of(home), path=path).status == status
    assert transport.peers() == {}


@pytest.mark.promise("cluster")
@pytest.mark.parametrize(("body", "status"), [(b"\xc1", 400), (b"{}", 400), (b"x" * (MOST_BODY_BYTES + 1), 413)])
def test_a_body_that_is_no_reply_is_refused(transport: WorkersTransport, home: Path, body: bytes, status: int) -> None:
    """A worker's request that is too large or no reply is refused."""
    try:
        assert send(transport, body, token_of(home)).status == status
    except (BrokenPipeError, ConnectionResetError):
        # The server has hung up before all of it was sent.
        assert status == 413
    assert transport.peers() == {}


def test_a_reply_nobody_waits_for_is_left_out(transport: WorkersTransport, home: Path) -> None:
    late = msgspec.msgpack.encode((WorkerReply(7, b"late"), WorkerReply(7, b"again")))
    assert send(transport, late, token_of(home)).status == 204
    assert transport.peers() == {HOST: True}


def taken(transport: WorkersTransport, token: str, host: str = HOST) -> WorkerCall:
    """Take the next call to a host."""
    body = b""
    while not body:
        body = send(transport, b"", token, f"/work/{host}").data
    return msgspec.msgpack.decode(body, type=WorkerCall)


@pytest.mark.promise("cluster")
def test_a_worker_answers_no_call_to_another_worker(transport: WorkersTransport, home: Path) -> None:
    """A worker cannot answer a call to another worker; the numbers of calls cannot be guessed."""
    token, other = token_of(home), "e" * 16
    send(transport, b"", token)
    with ThreadPoolExecutor() as threads:
        numbers = []
        for _ in range(2):
            reply = threads.submit(transport.call, HOST, HELLO, WAIT_S)
            number = taken(transport, token).number
            for host, words in ((other, b"forged"), (HOST, b"honest")):
                send(transport, msgspec.msgpack.encode((WorkerReply(number, words),)), token, f"/work/{host}")
            assert reply.result() == b"honest"
            numbers.append(number)
    assert abs(numbers[0] - numbers[1]) > 2**20


@pytest.mark.promise("cluster")
def test_silent_hosts_without_a_run_are_forgotten_and_shut_out_no_other(
    transport: WorkersTransport, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent or invented hosts without a run are forgotten and block no worker."""
    token, invented, real = token_of(home), "a" * 16, "b" * 16
    monkeypatch.setattr(workers, "MOST_WORKERS", 2)
    for host in (HOST, invented):
        send(transport, b"", token, f"/work/{host}")
    run = "20260101-000000-mlp-0000"
    with pytest.raises(NodeError):
        transport.call(HOST, packed(PollCall(HOST, run, {})), 0.01)
    assert send(transport, b"", token, f"/work/{real}").status == 429
    monkeypatch.setattr(workers, "SILENT_S", 0.0)
    assert send(transport, b"", token, f"/work/{real}").status == 204
    monkeypatch.setattr(workers, "SILENT_S", WAIT_S)
    assert set(transport.peers()) == {HOST, real}
    with pytest.raises(NodeError):
        transport.call(HOST, packed(ForgetCall(HOST, run)), 0.01)
    monkeypatch.setattr(workers, "MOST_WORKERS", 3)
    monkeypatch.setattr(workers, "FORGET_S", 0.0)
    assert transport.peers() == {}


def test_a_worker_that_does_not_answer_is_no_reply(transport: WorkersTransport, home: Path) -> None:
    send(transport, token=token_of(home))
    with pytest.raises(NodeError, match=r"does not answer within 0\.2 s"):
        transport.call(HOST, HELLO, 0.2)
    assert send(transport, token=token_of(home)).status == 204


def test_workers_execute_the_runs_of_a_server(transport: WorkersTransport, home: Path, tmp_path: Path) -> None:
    runner = Runner(Store(home), RemoteEngine(Store(home), transport))
    with worker(transport, tmp_path / "one", token_of(home)), worker(transport, tmp_path / "two", token_of(home)):
        until(lambda: len(runner.engine.nodes("cpu")) == 2)
        runs = [runner.submit(JOB) for _ in range(10)]
        assert {(runner.wait(run).status().state, (run.path / LOG).read_bytes()) for run in runs} == {
            ("done", b"first\n")
        }
        assert {run.status().node for run in runs} <= {"one", "two"}
    assert transport.peers() == {}
    runner.engine.close()


def test_a_worker_with_another_token_ends_and_says_why(transport: WorkersTransport, tmp_path: Path) -> None:
    host = Host(tmp_path / "one", NodeEngine(), "one")
    puller = Puller(f"http://127.0.0.1:{transport.port}", "x" * 40, host, lambda text: None)
    with pytest.raises(SettingError, match="does not take this token"):
        puller.run(threading.Event())


def test_a_server_that_starts_anew_gets_its_workers_and_their_runs_back(home: Path, tmp_path: Path) -> None:
    first = WorkersTransport("workers://127.0.0.1:0", home)
    engine = NodeEngine(hold_after=0)
    server = RemoteEngine(Store(home), first)
    runner = Runner(Store(home), server)
    said: list[str] = []
    with worker(first, tmp_path / "one", token_of(home), engine, said.append):
        run = runner.submit(JOB)
        until(lambda: len(engine.started) == 1)
        kill(server)
        engine.end(engine.started[0])
        second = WorkersTransport(f"workers://127.0.0.1:{first.port}", home)
        again = Runner(Store(home), RemoteEngine(Store(home), second))
        assert again.wait(again.store.open(run.id)).status().state == "done"
        assert [text.partition(":")[0] for text in said] == [CONNECTED, "the server does not answer", CONNECTED]
        again.engine.close()


@pytest.mark.promise("cluster")
@pytest.mark.parametrize("url", ["http://example.org", "ftp://localhost", "localhost:8600", ""])
def test_an_address_that_would_show_the_token_is_refused(tmp_path: Path, url: str) -> None:
    """A worker sends its token over TLS or to the same machine only."""
    with pytest.raises(SettingError):
        Puller(url, "token", Host(tmp_path, NodeEngine()), print)


@pytest.mark.parametrize(
    "address", ["workers://", "workers://localhost", "workers://localhost:99999", "workers://a b:1"]
)
def test_an_address_that_is_none_is_refused(home: Path, address: str) -> None:
    with pytest.raises(SettingError):
        WorkersTransport(address, home)


def test_a_port_that_is_taken_is_refused_in_words(transport: WorkersTransport, home: Path) -> None:
    with pytest.raises(
        SettingError, match=f"no worker can connect to 127.0.0.1:{transport.port}: .*; another server has this port"
    ):
        WorkersTransport(f"workers://127.0.0.1:{transport.port}", home)


def test_a_worker_without_runs_ends_after_its_idle_limit(
    transport: WorkersTransport, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(work, "_say", said.append)
    host, ended = Host(tmp_path / "node", engine := NodeEngine(hold_after=0)), threading.Event()
    server = RemoteEngine(Store(home.parent / "server"), transport)
    threading.Thread(
        target=Puller(f"http://127.0.0.1:{transport.port}", token_of(home), host, said.append).run,
        args=(ended,),
        daemon=True,
    ).start()
    runner = Runner(Store(home.parent / "server"), server)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    threading.Thread(target=work._end_when_idle, args=(host, 0.0, ended), daemon=True).start()
    assert (host.is_busy(), ended.wait(1.0)) == (True, False)
    engine.end(engine.started[0])
    until(ended.is_set)
    assert runner.wait(run).status().state == "done"
    assert said[-1] == "no run for 0 s: this worker ends"
    kill(server)


def test_a_worker_that_reaches_no_server_says_so_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    said: list[str] = []
    puller, ended = (
        Puller(f"http://127.0.0.1:{port}", "t" * 32, Host(tmp_path, NodeEngine()), said.append),
        threading.Event(),
    )
    thread = threading.Thread(target=puller.run, args=(ended,))
    thread.start()
    until(lambda: said != [])
    ended.set()
    thread.join()
    assert said == ["the server does not answer: [Errno 111] Connection refused; trying again"]
