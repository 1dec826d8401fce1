"""Workers as the transport to hosts: each connects to the server over HTTP and asks for calls, so that it may be behind
a firewall.

    POST /work/<host>     replies to earlier calls → 200 and the next call, or 204 if there is none for a while
    DELETE /work/<host>   the worker ends for good

Further servers over the same store use its workers, through `shared_workers`:

    GET    /hosts             → 200 and the hosts
    POST   /hosts/<host>      a call → 200 and the host's reply, or 504 with the reason

Every request has a token, that of `<home>/workers-token` or of `<home>/servers-token`, and a bounded body. TLS is a
proxy's, which passes on `/work/` alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import itertools
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from core.base.decoder import unpacked_as
from core.base.errors import DecodeError, NodeError, SettingError
from core.base.files import in_words, read_line
from core.base.words import limit_s as in_seconds
from core.runs.engine.cluster.messages import MOST_CALL_BYTES, Words

TOKEN_FILE, SERVERS_TOKEN_FILE = "workers-token", "servers-token"
TOKEN_BYTES = 32
ADDRESS = re.compile(r"workers://(\[[0-9a-fA-F:]+\]|[\w.-]+):([0-9]{1,5})/?")
HOST = re.compile(r"[0-9a-f]{16}")
# Seconds until a request without a call is answered, and after which a worker that does not ask is silent.
WAIT_S, SILENT_S = 20.0, 60.0
# Seconds between two looks at whether the server ends, which it does after so many at most.
LOOK_S, END_S = 0.5, 5
# Longer than a worker takes to answer a call.
KEEP_ALIVE_S = 300
MOST_WAITING = 1_000
MOST_WORKERS = 1_000
MOST_CONNECTIONS = 5_000
# What replies have beside their bytes.
MOST_BODY_BYTES = 17 * 1024**2
# The longest that another server waits for a reply.
MOST_LIMIT_S = 600.0


class WorkerCall(msgspec.Struct, frozen=True):
    """A call to a worker's host."""

    number: int
    data: bytes


class WorkerHosts(msgspec.Struct, frozen=True):
    """The hosts of a server's workers, and whether each can be called; `server` is new at each start."""

    server: Words
    hosts: Annotated[dict[Words, bool], msgspec.Meta(max_length=MOST_WORKERS)]


class WorkerReply(msgspec.Struct, frozen=True):
    """The host's reply to a call."""

    number: int
    data: bytes
    why: Words = ""


@dataclass(slots=True)
class _Worker:
    """A worker: the calls that wait for it, and when it last asked."""

    calls: asyncio.Queue[WorkerCall] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))
    heard_s: float = field(default_factory=time.monotonic)


class WorkersTransport:
    """Hosts of the workers that connect to `address`, `workers://HOST:PORT`; raises SettingError.

    A silent worker is never lost, since it may be cut off and at work; one that says goodbye is.
    """

    scheme = "workers"

    def __init__(self, address: str, home: Path) -> None:
        listening = listening_socket(address)
        self.port: int = listening.getsockname()[1]
        self._token, self._servers_token = token_of(home), token_of(home, SERVERS_TOKEN_FILE)
        self._id = secrets.token_hex(8)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[bytes]] = {}
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
        """Return the workers that have asked for calls, and whether they did lately."""
        now = time.monotonic()
        return {host: now - worker.heard_s < SILENT_S for host, worker in list(self._workers.items())}

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        """Return a host's reply to a call; raises NodeError if there is none in time."""
        with self._reply(peer, data, limit_s) as reply:
            return reply.result(limit_s)

    @contextlib.contextmanager
    def _reply(self, peer: str, data: bytes, limit_s: float) -> Iterator[Future[bytes]]:
        """Queue a call, and yield its reply to come; raises NodeError if there is none in time."""
        number, reply = next(self._numbers), Future[bytes]()
        worker = self._workers.get(peer)
        if worker is None or worker.calls.full():
            raise NodeError("the worker is gone, or too many calls wait for it")
        self._waiting[number] = reply
        try:
            self._loop.call_soon_threadsafe(_put, worker.calls, WorkerCall(number, data))
            yield reply
        except (TimeoutError, RuntimeError):
            raise NodeError(f"the worker does not answer within {in_seconds(limit_s)}") from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Stop listening; the workers go on, and ask again."""
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
            self._take(reply)
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
        """Return the hosts to another server over the store."""
        if not _has_token(request, self._servers_token):
            return Response(status_code=401)
        return Response(msgspec.msgpack.encode(WorkerHosts(self._id, self.peers())))

    async def _relay(self, request: Request) -> Response:
        """Make a call of another server over the store."""
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
        """Return why a request is not answered; None if it is."""
        if not _has_token(request, self._token):
            return Response("the token is not this server's\n", 401)
        if not HOST.fullmatch(host):
            return Response("this is no host's id\n", 404)
        if host not in self._workers and len(self._workers) >= MOST_WORKERS:
            return Response("there are too many workers\n", 429)
        return None

    def _take(self, reply: WorkerReply) -> None:
        """Give a reply to the call that waits for it; one that comes late or twice is left out."""
        waiting = self._waiting.pop(reply.number, None)
        if waiting is None:
            return
        if reply.why:
            waiting.set_exception(NodeError(reply.why))
        else:
            waiting.set_result(reply.data)

    async def _next(self, worker: _Worker) -> WorkerCall | None:
        """Return the next call that somebody still waits for; None if there is none for a while."""
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s and not self._server.should_exit:
            with contextlib.suppress(TimeoutError):
                call = await asyncio.wait_for(worker.calls.get(), LOOK_S)
                if call.number in self._waiting:
                    return call
        worker.heard_s = time.monotonic()
        return None


def token_of(home: Path, name: str = TOKEN_FILE) -> str:
    """Return a token, that of workers by default, made once in a file that only its owner reads; raises StoreError."""
    path = home / name
    with in_words(home):
        if not path.exists():
            _make_token(path)
        token = read_line(path, 200)
    if len(token) < TOKEN_BYTES:
        raise SettingError(f"{path} holds no token of {TOKEN_BYTES} characters; remove it, and try again")
    return token


def _make_token(path: Path) -> None:
    """Make a token's file, which appears whole; one that another process has made meanwhile stays."""
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
    """Return where workers connect; raises SettingError."""
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
    """Return a request's body; raises DecodeError beyond the bound, ClientDisconnect."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise DecodeError(f"the body has more than {most_bytes} bytes")
    return bytes(body)


def _put(calls: asyncio.Queue[WorkerCall], call: WorkerCall) -> None:
    with contextlib.suppress(asyncio.QueueFull):
        calls.put_nowait(call)
