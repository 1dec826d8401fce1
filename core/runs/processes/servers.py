"""Addresses of the dashboards that listen on a store.

Each dashboard writes its address to a file in `<home>/servers`, readable by its owner only.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from core.base.connections import limit_half_open
from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import make_private, read, write_atomically
from core.runs.processes.handles import LOCAL
from core.runs.status import Handle

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
