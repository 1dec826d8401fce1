"""Home of a store: the directory with runs and cache, and the addresses of the dashboards that listen on it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import OWNER_ALONE, in_words, make_private, read, write_atomically
from core.runs.engine.processes import LOCAL
from core.runs.status import Handle

# Records of what deleted runs have in an archive elsewhere.
DELETED_RECORDS = "deleted-archived"
# Locks of runs whose files are moved to or from there.
LOCKS = "archive-locks"
# What a home has that is used for nothing else.
OURS = {
    *(
        "runs",
        "cache",
        "index",
        "sweeps",
        "turns",
        "servers",
        "hosts",
        "hosted",
        "carried",
        "store-id",
        "workers-token",
    ),
    *("audit.jsonl", "audit.1.jsonl", "deleted.jsonl", "deleted.1.jsonl", "retention.lock", DELETED_RECORDS, LOCKS),
}


def keep_record(home: Path, name: str, record: Path) -> None:
    """Keep the record of what a deleted run has in an archive elsewhere, from where it is removed later."""
    with suppress(OSError):
        data = read(record)
        make_private(home / DELETED_RECORDS)
        write_atomically(home / DELETED_RECORDS / f"{name}.json", data)


def make_home(home: Path, *private: Path) -> None:
    """Create a home and its private directories; raises StoreError."""
    with in_words(home):
        home.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        if {entry.name for entry in home.iterdir()} <= OURS:
            make_private(home)
        for directory in private:
            make_private(directory)


DIRECTORY = "servers"
MOST_BYTES = 10_000
MOST_SERVERS = 100
URL = re.compile(r"https?://[\w.:\[\]/-]+")


@dataclass(frozen=True, slots=True)
class _Server:
    url: Annotated[str, Meta(max_length=1_000)]
    handle: Handle


@contextlib.contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Leave this server's address in a store in this context; a store that cannot be written is left as it is."""
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
    """Return the address of a dashboard that listens on a store now, the newest first; empty if there is none."""
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
