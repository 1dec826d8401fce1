"""SQLite file of the index: updated from the run directories, searched, and made again when damaged.

Several processes write the file at once; each brings it up to date for all. The directories are
authoritative: if the file is lost or damaged, the next listings make it again. The file's name contains the
version of its content, so that two versions of Compileboard can use one store.
"""

import hashlib
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TypeVar

import msgspec
import psutil

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, StoreError
from core.base.files import make_private
from core.base.words import RUN_ID
from core.runs.index.entry import TABLES as USE_TABLES
from core.runs.index.entry import (
    UNCOUNTED,
    IndexedRun,
    Usage,
    bytes_of,
    columns,
    executions_of,
    read_entry,
    stamp_of,
    usage_of,
    write_tools,
)
from core.runs.index.query import RunQuery
from core.runs.people import RateEntry, deleted_entries
from core.runs.status import Status
from core.runs.store import Run, Store
from core.runs.stored import VERSION as SUMMARY_VERSION

Result = TypeVar("Result")
# Raised with every change in what is read from a directory, if no type changes, which are part of the version anyway.
CONTENT_VERSION = 1
BUSY_S = 3.0
# Seconds for which one listing brings the index up to date.
QUICK_S = 0.2
# Such a step in a thread, and the pause after it, so that listings need not wait.
STEP_S = 0.1
# Runs that each refresh looks at for changes: those that are open, and the next ones of all.
MOST_OPEN = 200  #: live runs that each listing reads again
LOOKED_AT = 500
LOOK_S = 0.5
BATCH = 100
ATTEMPTS, BUSY_ATTEMPTS = 6, 3
# A directory that changed just now may change again without another modification time.
SETTLED_NS = 2_000_000_000
OLD_S = 7 * 86_400.0
LAST_ID = "~"
VERSION_CHARS = 8
SETTINGS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA journal_size_limit = 16000000",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
COLUMNS = (*columns(IndexedRun("", Status("done", 0.0))), "data")
TABLES = (
    f"CREATE TABLE IF NOT EXISTS runs ({', '.join(COLUMNS)}, PRIMARY KEY (id))",
    "CREATE INDEX IF NOT EXISTS by_time ON runs (created_s, id)",
    "CREATE INDEX IF NOT EXISTS by_title ON runs (title, created_s)",
    "CREATE INDEX IF NOT EXISTS by_fingerprint ON runs (fingerprint)",
    "CREATE INDEX IF NOT EXISTS of_open ON runs (id) WHERE open",
    *USE_TABLES,
)
INSERT = f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(COLUMNS))})"
# File systems over a network, on which SQLite's locks and shared memory do not work.
REMOTE = frozenset(
    [
        *("9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "fuse.s3fs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs", "wekafs"),
    ]
)
# Bits of the primary code in an extended error code of SQLite.
PRIMARY = 0xFF
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
UNUSABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Number of runs in the index, and of all runs.

    `problem` is why the index is only in memory; empty if it has a file.
    """

    indexed: int
    total: int
    problem: str = ""

    @property
    def complete(self) -> bool:
        """True if every run is in the index."""
        return self.indexed >= self.total


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of the runs that match a query, in the query's order; `total` counts all matching runs."""

    runs: tuple[IndexedRun, ...]
    total: int


class RunIndex:
    """The index of one store, for all threads of this process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = RLock()
        self._problem = _remote_words(store.home)
        self._connection: sqlite3.Connection | None = None
        self._inode = self.updates = 0
        self._start_over()

    def refresh(self, within_s: float = math.inf) -> IndexProgress:
        """Bring the index up to date, newest runs first, for at most about `within_s` seconds."""
        end_s = time.monotonic() + within_s
        with self._lock:
            if self._connection is not None and not self._problem and _inode(self.path) != self._inode:
                self._close()
            self._guarded(lambda connection: self._refresh(connection, end_s))
            return IndexProgress(self._total - len(self._missing), self._total, self._problem)

    def fill(self) -> None:
        """Bring the index up to date in short steps, in a thread: it raises no StoreError."""
        with suppress(StoreError):
            self.complete()

    def complete(self) -> None:
        """Bring the index up to date in short steps, until it has every run; raises StoreError."""
        while not self.refresh(STEP_S).complete:
            time.sleep(STEP_S)

    def usage(self, by: str = "") -> Usage:
        """Return the store's usage by a visitor (0 for the owner) and by all; raises StoreError."""
        self.complete()
        with self._lock:
            used, uncounted = self._guarded(
                lambda connection: (usage_of(connection, by), connection.execute(UNCOUNTED).fetchall())
            )
        sizes = [(author, bytes_of(self.run(run_id))) for run_id, author in uncounted]
        mine = sum(size for author, size in sizes if by and author == by)
        every = sum(size for _, size in sizes)
        return replace(used, visitor_bytes=used.visitor_bytes + mine, store_bytes=used.store_bytes + every)

    def search(self, query: RunQuery, most: int, offset: int = 0) -> RunPage:
        """Return at most `most` current runs of a query, after the first `offset` runs."""
        with self._lock:
            return self._guarded(lambda connection: self._search(connection, query, most, offset))

    def find(self, fingerprint: str) -> Run | None:
        """Return the newest finished run with a fingerprint; None if the index has none."""
        self.refresh(QUICK_S)
        page = self.search(RunQuery().also("fingerprint = ? AND state = 'done'", fingerprint), 1)
        return next((self.run(entry.id) for entry in page.runs), None)

    def titles(self, query: RunQuery, most: int) -> dict[str, int]:
        """Return the `most` most frequent titles of a query's runs, as title → number of runs."""
        where = query.where
        select = f"SELECT title, count(*) FROM runs WHERE {where.sql} GROUP BY title ORDER BY 2 DESC, 1 LIMIT ?"
        with self._lock:
            return dict(self._guarded(lambda connection: connection.execute(select, (*where.values, most)).fetchall()))

    def update(self, run_ids: Iterable[str]) -> None:
        """Update the entries of runs that this process has changed; `updates` counts these calls."""
        with self._lock:
            self.updates += 1
            self._guarded(lambda connection: self._read(connection, run_ids))

    def executions(self, by: str, since_s: float) -> list[RateEntry]:
        """Return a visitor's runs and kernel tools since a time, also deleted ones; raises StoreError."""
        self.complete()
        with self._lock:
            stored = self._guarded(lambda connection: executions_of(connection, by, since_s))
        return [*stored, *deleted_entries(self.store.home, by)]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def run(self, run_id: str) -> Run:
        """Return the run with an id, all ranks together; its directory may be missing."""
        return Run(run_id, self.store.runs_dir / run_id, self.store.liveness)

    @property
    def path(self) -> Path:
        """The SQLite file of this version."""
        return self.store.index_dir / f"runs-{_version()}.sqlite3"

    def _start_over(self) -> None:
        self._listed_ns, self._total = 0, 0
        self._cursor, self._looked_s = LAST_ID, -math.inf
        self._missing: list[str] = []

    def _guarded(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return the result of `work` on the database; raises StoreError.

        A damaged file is created again. If the file cannot be used, the index continues in memory.
        """
        for attempt in range(ATTEMPTS):
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                self._close()
                code = getattr(error, "sqlite_errorcode", 0) & PRIMARY
                if code in BUSY and attempt < BUSY_ATTEMPTS:
                    # The file that another process is making is locked, and SQLite does not wait for that.
                    time.sleep(STEP_S)
                elif code in (*BUSY, *UNUSABLE):
                    self._problem = f"{self.path.parent} cannot be used: {error}"
                else:
                    self._delete_file()
            except (OSError, StoreError) as error:
                self._close()
                self._problem = str(error)
        raise StoreError(f"the index of {self.store.home} cannot be made: {self._problem or 'it is always damaged'}")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._start_over()
            self._connection = self._connected(":memory:") if self._problem else self._connected(self._file())
        return self._connection

    def _file(self) -> str:
        make_private(self.store.index_dir)
        for path in self.store.index_dir.glob("runs-*"):
            with suppress(OSError):
                if not path.name.startswith(self.path.name) and time.time() - path.stat().st_mtime > OLD_S:
                    path.unlink()
        return str(self.path)

    def _connected(self, name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(name, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            for setting in SETTINGS:
                connection.execute(setting)
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode not in ("wal", "memory"):
                raise StoreError(f"{self.path.parent} has no memory that processes share")
            for table in TABLES:
                connection.execute(table)
        except BaseException:
            connection.close()
            raise
        self._inode = _inode(self.path)
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _delete_file(self) -> None:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + ending).unlink()

    def _refresh(self, connection: sqlite3.Connection, end_s: float) -> None:
        self._list_directories(connection)
        self._read(connection, [*self._open_runs(connection), *self._changed(connection)])
        while self._missing:
            batch = self._missing[-BATCH:]
            known = self._known(connection, batch)
            written = self._read(connection, (run_id for run_id in batch if run_id not in known))
            if written:
                del self._missing[-BATCH:]
            if not written or time.monotonic() > end_s:
                break

    def _list_directories(self, connection: sqlite3.Connection) -> None:
        """Find the runs that are not in the index, oldest first, and remove the entries of deleted runs."""
        changed_ns = self.store.runs_dir.stat().st_mtime_ns
        if changed_ns == self._listed_ns:
            return
        names = set(filter(RUN_ID.fullmatch, os.listdir(self.store.runs_dir)))
        known = {run_id for (run_id,) in connection.execute("SELECT id FROM runs")}
        _write(connection, (), known - names)
        self._missing, self._total = sorted(names - known), len(names)
        self._listed_ns = changed_ns if time.time_ns() - changed_ns > SETTLED_NS else 0

    def _open_runs(self, connection: sqlite3.Connection) -> list[str]:
        select = "SELECT id FROM runs WHERE open ORDER BY id DESC LIMIT ?"
        return [run_id for (run_id,) in connection.execute(select, (MOST_OPEN,))]

    def _changed(self, connection: sqlite3.Connection) -> list[str]:
        """Return the changed runs among the next `LOOKED_AT`; empty within `LOOK_S` of the last check."""
        if time.monotonic() - self._looked_s < LOOK_S:
            return []
        select = "SELECT id, stamp FROM runs WHERE id < ? ORDER BY id DESC LIMIT ?"
        part = connection.execute(select, (self._cursor, LOOKED_AT)).fetchall()
        self._cursor = part[-1][0] if len(part) == LOOKED_AT else LAST_ID
        self._looked_s = time.monotonic()
        return [run_id for run_id, stamp in part if stamp_of(self.run(run_id).path) != stamp]

    def _known(self, connection: sqlite3.Connection, run_ids: Sequence[str]) -> set[str]:
        """Return the runs among `run_ids` that another process has added to the index."""
        select = f"SELECT id FROM runs WHERE id IN ({', '.join('?' * len(run_ids))})"
        return {run_id for (run_id,) in connection.execute(select, run_ids)}

    def _read(self, connection: sqlite3.Connection, run_ids: Iterable[str]) -> bool:
        """Read runs into the index; return False if the index stayed locked too long."""
        entries = {run_id: read_entry(self.run(run_id)) for run_id in run_ids}
        gone = [run_id for run_id, entry in entries.items() if entry is None]
        return _write(connection, [entry for entry in entries.values() if entry is not None], gone)

    def _search(self, connection: sqlite3.Connection, query: RunQuery, most: int, offset: int) -> RunPage:
        where = query.where
        (total,) = connection.execute(f"SELECT count(*) FROM runs WHERE {where.sql}", where.values).fetchone()
        select = f"SELECT id, stamp, open, data FROM runs WHERE {where.sql} ORDER BY {query.order} LIMIT ? OFFSET ?"
        rows = connection.execute(select, (*where.values, most, offset)).fetchall()
        entries = {run_id: self._entry(run_id, stamp, still_open, data) for run_id, stamp, still_open, data in rows}
        again = [run_id for run_id, entry in entries.items() if entry is None]
        entries |= {run_id: read_entry(self.run(run_id)) for run_id in again}
        gone = [run_id for run_id, entry in entries.items() if entry is None]
        fresh = tuple(entry for entry in entries.values() if entry is not None)
        _write(connection, [entry for entry in fresh if entry.id in again], gone)
        return RunPage(fresh, total - len(gone))

    def _entry(self, run_id: str, stamp: int, still_open: bool, data: bytes) -> IndexedRun | None:
        """Return a run's entry from the index; None if the entry must be read from the directory again."""
        if still_open or stamp_of(self.run(run_id).path) != stamp:
            return None
        try:
            return decoded_as(data, IndexedRun)
        except DecodeError:
            return None


def _write(connection: sqlite3.Connection, entries: Sequence[IndexedRun], gone: Iterable[str]) -> bool:
    """Write entries, and remove those of deleted runs; return False if the index stayed locked too long."""
    removed = [(run_id,) for run_id in gone]
    if not entries and not removed:
        return True
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, [(*columns(entry).values(), _encoded(entry)) for entry in entries])
        connection.executemany("DELETE FROM runs WHERE id = ?", removed)
        write_tools(connection, entries, removed)
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY not in BUSY:
            raise
        return False
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return True


def _encoded(entry: IndexedRun) -> bytes:
    return msgspec.json.encode(replace(entry, tools=()))


@cache
def _version() -> str:
    """Return a hash of what determines the index's format: types, tables, and versions."""
    content = msgspec.json.schema(IndexedRun), TABLES, CONTENT_VERSION, SUMMARY_VERSION
    return hashlib.sha256(repr(content).encode()).hexdigest()[:VERSION_CHARS]


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _remote_words(home: Path) -> str:
    """Return why the index cannot be a file in this home; empty if it can."""
    try:
        mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    except (OSError, RuntimeError):
        return ""
    kind = next((mounts[path] for path in (home, *home.parents) if path in mounts), "")
    return f"{home} is on {kind}, where processes share no locks" if kind in REMOTE else ""
