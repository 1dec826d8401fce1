"""Servers of a store: their addresses, limits of half-open connections, and commands for a home.

Each dashboard writes its address to a file in `<home>/servers`, readable by its owner only. A connection is half-open
until it has sent a whole header of a request, at its start and after each response. uvicorn keeps such connections for
ever.
"""

import asyncio
import contextlib
import os
import re
import resource
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import make_private, read, write_atomically
from core.base.machine import PROJECT_DIR
from core.runs.processes.handles import LOCAL
from core.runs.status import Handle

# Seconds in which a header must be complete, and half-open connections of one address.
HEADER_S = 10.0
MOST_HALF_OPEN = 100  #: limit: connections of one address without a whole header
MOST_FILES = 65_536  #: limit: open files of a server, if the system allows them
DIRECTORY = "servers"
MOST_BYTES = 10_000  #: the file of a dashboard's address
MOST_SERVERS = 100  #: dashboards that are searched
URL = re.compile(r"https?://[\w.:\[\]/-]+")


@dataclass(frozen=True, slots=True)
class _Server:
    url: Annotated[str, Meta(max_length=1_000)]
    handle: Handle


@contextlib.contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Announce this server's address in a store while the context is entered; write errors are ignored.

    From now on, half-open connections to the server are limited.
    """
    limit_half_open()
    path = home / DIRECTORY / f"{os.getpid()}.json"
    with contextlib.suppress(OSError):
        make_private(path.parent)
        write_atomically(path, msgspec.json.encode(_Server(url, LOCAL.local_handle())))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def address(home: Path) -> str:
    """Return the address of the newest live dashboard of a store; empty if there is none."""
    paths = sorted((home / DIRECTORY).glob("*.json"), key=_written_s, reverse=True)[:MOST_SERVERS]
    servers = filter(None, map(_server, paths))
    return next((server.url for server in servers if LOCAL.is_alive(server.handle)), "")


def _server(path: Path) -> _Server | None:
    try:
        server = decoded_as(read(path, MOST_BYTES), _Server)
    except (OSError, DecodeError):
        return None
    return server if URL.fullmatch(server.url) else None


def _written_s(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


@cache
def limit_half_open() -> None:
    """Have uvicorn's servers in this process close half-open connections; raise the limit of open files.

    uvicorn has no setting for this, and Streamlit chooses the protocol's class before it imports the dashboard.
    """
    # The processes of runs import this package, and serve nothing.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    limited(AutoHTTPProtocol)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def limited(protocol: type[Any]) -> None:
    """Add the limits to a class of uvicorn's HTTP protocols, unless it has them already."""
    if hasattr(protocol, "header_timer"):
        return
    protocol.header_timer = None
    made, received, lost = protocol.connection_made, protocol.data_received, protocol.connection_lost

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        _watch(self)

    def data_received(self: Any, data: bytes) -> None:
        received(self, data)
        _watch(self)

    def connection_lost(self: Any, error: Exception | None) -> None:
        _stop(self)
        lost(self, error)

    protocol.connection_made, protocol.data_received = connection_made, data_received
    protocol.connection_lost = connection_lost


def _watch(connection: Any) -> None:
    """Start the time of a half-open connection, and stop it once the header is complete."""
    if not _is_half_open(connection):
        _stop(connection)
    elif connection.header_timer is None:
        connection.header_timer = connection.loop.call_later(HEADER_S, connection.transport.abort)
        waiting = [each for each in connection.connections if _is_waiting(each, connection.client)]
        if len(waiting) > MOST_HALF_OPEN:
            # The oldest one, so that an honest visitor at the same address gets in.
            oldest = min(waiting, key=lambda each: each.header_timer.when())
            _stop(oldest)
            oldest.transport.abort()


def _is_waiting(connection: Any, client: tuple[str, int] | None) -> bool:
    """Return True if a connection from a client's address is half-open."""
    address, own = client and client[0], connection.client and connection.client[0]
    return address == own and getattr(connection, "header_timer", None) is not None


def _is_half_open(connection: Any) -> bool:
    is_answering = connection.cycle is not None and not connection.cycle.response_complete
    is_idle = connection.timeout_keep_alive_task is not None
    is_upgraded = connection.transport.get_protocol() is not connection
    return not (is_answering or is_idle or is_upgraded or connection.transport.is_closing())


def _stop(connection: Any) -> None:
    if connection.header_timer is not None:
        connection.header_timer.cancel()
        connection.header_timer = None


def start_for_home(command: Sequence[str], home: Path) -> subprocess.Popen[bytes]:
    """Start a command of Compileboard for a store's home, without input and output."""
    return subprocess.Popen(
        command,
        cwd=PROJECT_DIR,
        env={**os.environ, "COMPILEBOARD_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
