"""Workers as the transport to hosts: each worker connects to the server over HTTP and requests calls.

So a worker may be behind a firewall. The worker's host answers the calls until the worker is stopped.

    POST /work/<host>     replies to earlier calls → 200 and the next call, or 204 if none comes for a while
    DELETE /work/<host>   the worker ends for good

Other servers of the same store use its workers through `core.runs.engine.transports.workers`:

    GET    /hosts             → 200 and the hosts
    POST   /hosts/<host>      a call → 200 and the host's reply, or 504 with the reason

Every request has the token in `<home>/workers-token` or `<home>/servers-token`, and a body of limited size.
A proxy provides TLS, and forwards only `/work/`.
"""

import asyncio
import contextlib
import errno
import hmac
import os
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from core.base.decoder import unpacked_as
from core.base.errors import DecodeError, NodeError, SettingError
from core.base.files import in_words, one_line, read_line
from core.base.words import limit_s as in_seconds
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.messages import MOST_CALL_BYTES, EndTurnCall, ForgetCall, Words
from core.runs.processes.servers import limit_half_open

TOKEN_FILE, SERVERS_TOKEN_FILE = "workers-token", "servers-token"
TOKEN_BYTES = 32
ADDRESS = re.compile(r"workers://(\[[0-9a-fA-F:]+\]|[\w.-]+):([0-9]{1,5})/?")
HOST = re.compile(r"[0-9a-f]{16}")
# Seconds until a request without a call is answered, and after which a worker that does not ask is silent.
WAIT_S, SILENT_S = 20.0, 60.0
# Seconds after which a silent worker without a run is forgotten; it may connect again.
FORGET_S = 600.0
# Seconds between two looks at whether the server ends, which it does after so many at most.
LOOK_S, END_S = 0.5, 5
# Longer than a worker takes to answer a call.
KEEP_ALIVE_S = 300
MOST_WAITING = 1_000  #: calls that wait for one worker
MOST_WORKERS = 1_000  #: limit: workers of a server
NUMBER_BITS = 63
# Calls after which a host carries their run no more.
LAST_CALLS = (ForgetCall.__name__, EndTurnCall.__name__)
MOST_CONNECTIONS = 5_000  #: limit: connections to the workers' port
# What replies have beside their bytes.
MOST_BODY_BYTES = 17 * 1024**2  #: a worker's request
# The longest that another server waits for a reply.
MOST_LIMIT_S = 600.0  #: time limit of a call by another server of the store


class WorkerCall(msgspec.Struct, frozen=True):
    """A call to a worker's host."""

    number: int
    data: bytes


class WorkerHosts(msgspec.Struct, frozen=True):
    """The hosts of a server's workers, each with True if it can be called.

    `server` is an id of the server's process, which is new at each start.
    """

    server: Words
    hosts: Annotated[dict[Words, bool], msgspec.Meta(max_length=MOST_WORKERS)]


class WorkerReply(msgspec.Struct, frozen=True):
    """The host's reply to a call; without a reply, `why` has the reason."""

    number: int
    data: bytes
    why: Words = ""


class _RunOfCall(msgspec.Struct, frozen=True):
    """The kind of a call, and its run; empty for a call about no run."""

    type: str
    run: str = ""


@dataclass(slots=True)
class _Worker:
    """A worker: its waiting calls, the runs that it carries, and the time of its last request."""

    runs: set[str] = field(default_factory=set)
    calls: asyncio.Queue[WorkerCall] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))
    heard_s: float = field(default_factory=time.monotonic)


class WorkersTransport:
    """Hosts of the workers that connect to `address`, `workers://HOST:PORT`; raises SettingError.

    A silent worker is never lost, since it may still execute runs while it is disconnected. A worker that signs off is
    lost.
    """

    scheme = "workers"

    def __init__(self, address: str, home: Path) -> None:
        limit_half_open()
        listening = listening_socket(address)
        self.port: int = listening.getsockname()[1]
        self._token, self._servers_token = token_of(home), token_of(home, SERVERS_TOKEN_FILE)
        self._id = secrets.token_hex(8)
        # Random number of a call → the host that was called, and its reply.
        self._waiting: dict[int, tuple[str, Future[bytes]]] = {}
        self._workers: dict[str, _Worker] = {}
        routes = [
            Route("/work/{host}", self._work, methods=["POST"]),
            Route("/work/{host}", self._bye, methods=["DELETE"]),
            Route("/hosts", self._hosts, methods=["GET"]),
            Route("/hosts/{host}", self._relay, methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_level="critical",
            timeout_graceful_shutdown=END_S,
            timeout_keep_alive=KEEP_ALIVE_S,
            access_log=False,
            lifespan="off",
            ws="none",
            limit_concurrency=MOST_CONNECTIONS,
            server_header=False,
        )
        self._server = uvicorn.Server(config)
        self._loop: asyncio.AbstractEventLoop
        is_listening = threading.Event()
        served = (self._serve(listening, is_listening),)
        self._thread = threading.Thread(target=asyncio.run, args=served, daemon=True)
        self._thread.start()
        is_listening.wait()

    def peers(self) -> dict[str, bool]:
        """Return the hosts of the workers, each with True if the worker has requested calls recently."""
        self._forget_silent()
        now = time.monotonic()
        return {host: now - worker.heard_s < SILENT_S for host, worker in list(self._workers.items())}

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        with self._reply(peer, data, limit_s) as reply:
            return reply.result(limit_s)

    @contextlib.contextmanager
    def _reply(self, peer: str, data: bytes, limit_s: float) -> Iterator[Future[bytes]]:
        """Queue a call, and yield the future of its reply; raises NodeError if no reply comes in time."""
        number, reply = secrets.randbits(NUMBER_BITS), Future[bytes]()
        worker = self._workers.get(peer)
        if worker is None or worker.calls.full():
            raise NodeError("the worker is gone, or too many calls wait for it")
        about = unpacked_as(data, _RunOfCall, MOST_CALL_BYTES)
        if about.run:
            (worker.runs.discard if about.type in LAST_CALLS else worker.runs.add)(about.run)
        self._waiting[number] = peer, reply
        try:
            self._loop.call_soon_threadsafe(_put, worker.calls, WorkerCall(number, data))
            yield reply
        except (TimeoutError, RuntimeError):
            raise NodeError(f"the worker does not answer within {in_seconds(limit_s)}") from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Stop listening; the workers continue, and try to connect again."""
        self._server.should_exit = True
        self._thread.join()

    async def _serve(self, listening: socket.socket, is_listening: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        is_listening.set()
        with listening:
            await self._server.serve([listening])

    async def _work(self, request: Request) -> Response:
        """Take the replies to earlier calls, and wait for the next call."""
        host = request.path_params["host"]
        if (refused := self._refusal(request, host)) is not None:
            return refused
        try:
            body = await _bounded(request)
            replies = unpacked_as(body, tuple[WorkerReply, ...], MOST_BODY_BYTES) if body else ()
        except ClientDisconnect:
            return Response(status_code=400)
        except DecodeError as error:
            return Response(f"{error}\n", 413 if "more than" in str(error) else 400)
        worker = self._workers.setdefault(host, _Worker())
        worker.heard_s = time.monotonic()
        for reply in replies:
            self._take(host, reply)
        call = await self._next(worker)
        return Response(status_code=204) if call is None else Response(msgspec.msgpack.encode(call))

    async def _bye(self, request: Request) -> Response:
        """Forget a worker that ends for good."""
        host = request.path_params["host"]
        if (refused := self._refusal(request, host)) is not None:
            return refused
        self._workers.pop(host, None)
        return Response(status_code=204)

    async def _hosts(self, request: Request) -> Response:
        """Return the hosts to another server of the same store."""
        if not _has_token(request, self._servers_token):
            return Response(status_code=401)
        return Response(msgspec.msgpack.encode(WorkerHosts(self._id, self.peers())))

    async def _relay(self, request: Request) -> Response:
        """Make a call for another server of the same store."""
        if not _has_token(request, self._servers_token):
            return Response(status_code=401)
        try:
            limit_s = min(float(request.query_params["limit_s"]), MOST_LIMIT_S)
            body = await _bounded(request, MOST_CALL_BYTES)
            with self._reply(request.path_params["host"], body, limit_s) as reply:
                return Response(await asyncio.wait_for(asyncio.wrap_future(reply), limit_s))
        except NodeError as error:
            return Response(str(error), 504)
        except (ClientDisconnect, DecodeError, KeyError, ValueError):
            return Response(status_code=400)

    def _refusal(self, request: Request, host: str) -> Response | None:
        """Return the response that refuses a request; None if the request is accepted."""
        if not _has_token(request, self._token):
            return Response("the token is not this server's\n", 401)
        if not HOST.fullmatch(host):
            return Response("this is no host's id\n", 404)
        self._forget_silent()
        if host not in self._workers and len(self._workers) >= MOST_WORKERS:
            return Response("there are too many workers\n", 429)
        return None

    def _forget_silent(self) -> None:
        """Forget the hosts without a run that have been silent for long; sooner if there are too many hosts."""
        limit_s = SILENT_S if len(self._workers) >= MOST_WORKERS else FORGET_S
        now = time.monotonic()
        for host, worker in list(self._workers.items()):
            if now - worker.heard_s >= limit_s and not worker.runs:
                self._workers.pop(host, None)

    def _take(self, host: str, reply: WorkerReply) -> None:
        """Pass a host's reply to the call that waits for it; a late, repeated or foreign reply is ignored."""
        called, waiting = self._waiting.get(reply.number, ("", None))
        if waiting is None or called != host:
            return
        del self._waiting[reply.number]
        if reply.why:
            waiting.set_exception(NodeError(reply.why))
        else:
            waiting.set_result(reply.data)

    async def _next(self, worker: _Worker) -> WorkerCall | None:
        """Return the next call whose caller still waits; None if there is no such call within `WAIT_S`."""
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s and not self._server.should_exit:
            with contextlib.suppress(TimeoutError):
                call = await asyncio.wait_for(worker.calls.get(), LOOK_S)
                if call.number in self._waiting:
                    return call
        worker.heard_s = time.monotonic()
        return None


def token_of(home: Path, name: str = TOKEN_FILE) -> str:
    """Return a token, by default the workers' token; raises StoreError, SettingError.

    The token is created on first use, in a file that only its owner can read.
    """
    path = home / name
    with in_words(home):
        if not path.exists():
            _make_token(path)
        token = read_line(path, 200)
    if len(token) < TOKEN_BYTES:
        raise SettingError(f"{path} holds no token of {TOKEN_BYTES} characters; remove it, and try again")
    return token


def _make_token(path: Path) -> None:
    """Create a token's file atomically; an existing file is not replaced."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w") as made:
            made.write(secrets.token_urlsafe(TOKEN_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()


def host_and_port(address: str) -> tuple[str, int]:
    """Return the host and port to which workers connect; raises SettingError."""
    match = ADDRESS.fullmatch(address)
    if match is None or int(match[2]) > 65_535:
        raise SettingError(f"the engine is {address[:80]!r}; write workers://HOST:PORT")
    return match[1].strip("[]"), int(match[2])


def listening_socket(address: str) -> socket.socket:
    """Return the socket to which workers connect; raises SettingError."""
    host, port = host_and_port(address)
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        taken = "; another server has this port, choose one of its own" if error.errno == errno.EADDRINUSE else ""
        raise SettingError(f"no worker can connect to {host}:{port}: {error.strerror}{taken}") from None
    # asyncio does so for sockets that name their protocol alone; without it, each answer waits 40 ms for the last one.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _has_token(request: Request, token: str) -> bool:
    """Return True if a request has a token, compared in constant time."""
    sent = request.headers.get("authorization", "").encode("utf-8", "replace")
    return hmac.compare_digest(sent, f"Bearer {token}".encode())


async def _bounded(request: Request, most_bytes: int = MOST_BODY_BYTES) -> bytes:
    """Return a request's body.

    Raises DecodeError if the body has more than `most_bytes`, ClientDisconnect if the client disconnects.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise DecodeError(f"the body has more than {most_bytes} bytes")
    return bytes(body)


def _put(calls: asyncio.Queue[WorkerCall], call: WorkerCall) -> None:
    with contextlib.suppress(asyncio.QueueFull):
        calls.put_nowait(call)


# Calls that are answered at once: a large file keeps no other call waiting.
THREADS = 4
TIMEOUT_S = WAIT_S + 40.0
RETRY_S, LONGEST_RETRY_S = 1.0, 30.0
# Seconds in which the server may collect what the ended runs have left.
COLLECT_S = 8.0
# Seconds for the connections to end.
CLOSE_S = 1.0
MOST_ANSWER_BYTES = 65 * 1024**2  #: the server's response to a worker
LOOPBACK = ("127.0.0.1", "::1", "localhost")
UNAUTHORIZED = 401


class Puller:
    """Connections of a host to one server.

    `say` prints the messages for the worker's terminal. Raises SettingError for an invalid address, and for http
    to another machine, since plain http would show the token to the network.
    """

    def __init__(self, url: str, token: str, host: Host, say: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError(f"{url[:80]!r} is no address of a server; write https://HOST")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise SettingError("http shows the token and the code to the network; write https://")
        self._address, self._is_tls = (parts.hostname, parts.port), parts.scheme == "https"
        self._path = f"{parts.path.rstrip('/')}/work/{host.id}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/msgpack"}
        self._host = host
        self._say = say
        self._over = threading.Event()
        # The threads that have a connection.
        self._connected: set[int] = set()
        # None until the first reply or failure.
        self._answers: bool | None = None
        self._noting = threading.Lock()
        self._refused = ""

    def run(self, ended: threading.Event) -> None:
        """Answer calls until `ended` is set; then end the runs, and let the server collect them.

        Raises SettingError if the server rejects the token.
        """
        threads = [threading.Thread(target=self._pull, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        while not ended.wait(RETRY_S) and not self._over.is_set():
            pass
        self._host.close()
        if self._refused:
            raise SettingError(self._refused)
        self._host.wait_until_collected(COLLECT_S)
        self._over.set()
        with contextlib.suppress(OSError, HTTPException, NodeError), contextlib.closing(self._connection()) as bye:
            self._request(bye, "DELETE", b"")
        for thread in threads:
            thread.join(CLOSE_S)

    def _pull(self) -> None:
        """Request calls and answer them; each reply is sent with the next request."""
        connection, body, retry_s = self._connection(), b"", RETRY_S
        while not self._over.is_set():
            try:
                answer = self._request(connection, "POST", body)
                body, retry_s = self._reply_to(answer) if answer else b"", RETRY_S
                self._note(True)
            except (OSError, HTTPException, DecodeError, NodeError) as error:
                connection.close()
                self._note(False, str(error))
                self._over.wait(retry_s)
                connection, retry_s = self._connection(), min(2 * retry_s, LONGEST_RETRY_S)
        connection.close()

    def _reply_to(self, answer: bytes) -> bytes:
        call = unpacked_as(answer, WorkerCall, MOST_ANSWER_BYTES)
        return msgspec.msgpack.encode((WorkerReply(call.number, self._host.answer(call.data)),))

    def _connection(self) -> HTTPConnection:
        name, port = self._address
        if self._is_tls:
            return HTTPSConnection(name, port, timeout=TIMEOUT_S, context=ssl.create_default_context())
        return HTTPConnection(name, port, timeout=TIMEOUT_S)

    def _request(self, connection: HTTPConnection, method: str, body: bytes) -> bytes:
        """Return the body of a response; raises OSError, HTTPException, NodeError. No redirection is followed."""
        connection.request(method, self._path, body, self._headers)
        response = connection.getresponse()
        data = response.read(MOST_ANSWER_BYTES + 1)
        if response.status == UNAUTHORIZED:
            self._refused = "the server does not take this token; copy its file workers-token again"
            self._over.set()
        if response.status not in (200, 204):
            raise NodeError(f"{response.status} {one_line(data[:200].decode('utf-8', 'replace'), 200)}")
        return data

    def _note(self, is_connected: bool, why: str = "") -> None:
        """Record whether this thread is connected; report when the first one is, or none is."""
        with self._noting:
            (self._connected.add if is_connected else self._connected.discard)(threading.get_ident())
            before, self._answers = self._answers, bool(self._connected)
            if before == self._answers or self._refused:
                return
        self._say("connected; waiting for runs" if is_connected else f"the server does not answer: {why}; trying again")
