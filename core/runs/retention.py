"""Retention: runs that the owner's rules move to the archive, or delete.

| variable | rule |
|---|---|
| `COMPILEBOARD_KEEP_DAYS` | runs that are older are due |
| `COMPILEBOARD_KEEP_GIB` | the oldest runs are due while all runs together are larger |
| `COMPILEBOARD_KEEP_DELETES=1` | due runs are deleted if no archive is set; without this rule, they stay |

Pinned, live and damaged runs, cells of sweeps, and runs with a note or comments stay.
"""

import math
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.base.errors import CompileboardError, SettingError, StoreError
from core.base.files import in_words
from core.base.machine import own_process
from core.job import GIB
from core.runs.index.database import RunIndex
from core.runs.index.entry import IndexedRun, read_entry
from core.runs.index.query import RunQuery
from core.runs.limits import positive_number
from core.runs.people import audited
from core.runs.processes.servers import start_for_home
from core.runs.remote import VARIABLE, ArchiveError, RemoteArchive, moved_of
from core.runs.store import ARCHIVED, Run

DAYS, SIZE, DELETES = "COMPILEBOARD_KEEP_DAYS", "COMPILEBOARD_KEEP_GIB", "COMPILEBOARD_KEEP_DELETES"
DAY_S = 86_400.0
# When a server first applies the rules, and how often.
FIRST_S, PERIOD_S = 60.0, 3_600.0
LOCK = "retention.lock"
BY = "retention"
# Runs of one pass; the next pass takes more.
MOST_RUNS = 10_000  #: limit: runs that one pass of retention moves or deletes
OLDEST_FIRST = "created_s, id"
MAY_GO = "NOT live AND NOT open AND NOT pinned AND NOT cell AND NOT commented AND state != 'damaged' AND archived = ''"


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """Rules of a store: the age in days and the total bytes from which runs are due, None for no rule.

    `deletes` is True if due runs may be deleted.
    """

    days: float | None = None
    most_bytes: int | None = None
    deletes: bool = False

    @property
    def are_set(self) -> bool:
        """True if there is a rule."""
        return self.days is not None or self.most_bytes is not None


@dataclass(frozen=True, slots=True)
class Due:
    """Due runs, oldest first, and the time at which the next run becomes too old; None if there is none."""

    runs: tuple[IndexedRun, ...] = ()
    next_s: float | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of the runs together."""
        return sum(run.size_bytes or 0 for run in self.runs)


def rules_of(environment: Mapping[str, str]) -> RetentionRules:
    """Return the rules in the environment; raises SettingError."""
    days, size = (_number(name, environment.get(name, "")) for name in (DAYS, SIZE))
    deletes = environment.get(DELETES, "") or "0"
    if deletes not in ("0", "1"):
        raise SettingError(f"{DELETES} is `{deletes[:60]}`, and must be 0 or 1")
    return RetentionRules(days, None if size is None else int(size * GIB), deletes == "1")


def _number(name: str, text: str) -> float | None:
    return positive_number(name, text, 1e9) if text.strip() else None


def due(index: RunIndex, rules: RetentionRules, *, moves: bool, now_s: float | None = None) -> Due:
    """Return the runs that are due by the rules, as far as they can be moved; raises StoreError."""
    if not rules.are_set:
        return Due()
    now_s = time.time() if now_s is None else now_s
    oldest_s = -math.inf if rules.days is None else now_s - rules.days * DAY_S
    excess = 0 if rules.most_bytes is None else index.usage().store_bytes - rules.most_bytes
    candidates = [entry for entry in _oldest(index) if not (moves and entry.ranks)]
    runs: list[IndexedRun] = []
    for entry in candidates:
        if entry.status.created_s >= oldest_s and excess <= 0:
            break
        runs.append(entry)
        excess -= entry.size_bytes or 0
    rest = candidates[len(runs) :]
    return Due(tuple(runs), rest[0].status.created_s + rules.days * DAY_S if rest and rules.days is not None else None)


def _oldest(index: RunIndex) -> tuple[IndexedRun, ...]:
    index.complete()
    return index.search(RunQuery(order=OLDEST_FIRST).also(MAY_GO), MOST_RUNS).runs


def retain(index: RunIndex, rules: RetentionRules, archive: RemoteArchive | None) -> tuple[int, int]:
    """Move the due runs to the archive; without an archive, delete them if that is allowed.

    Return the number of these runs and the freed bytes. The audit log names each of them, and each due run that
    could not be moved or deleted. Raises StoreError if nothing may be moved or deleted, if another process
    applies the rules to the store, or if the archive cannot be used.
    """
    if archive is None and not rules.deletes:
        raise StoreError(f"nothing is moved or deleted: there is no archive, and {DELETES} is not 1")
    runs = freed = 0
    with _alone(index.store.home):
        for entry in due(index, rules, moves=archive is not None).runs:
            run = index.run(entry.id)
            current = read_entry(run)
            if current is None or current.pinned or current.commented or current.status.live:
                continue
            try:
                freed += _release(index, entry, run, archive)
                runs += 1
            except ArchiveError:
                raise
            except CompileboardError:
                # This run stays; why is in the audit log.
                continue
        if archive is not None:
            trim(index, archive)
            archive.remove_deleted()
    return runs, freed


def _release(index: RunIndex, entry: IndexedRun, run: Run, archive: RemoteArchive | None) -> int:
    """Move a run, or delete it if there is no archive; return the freed bytes."""
    with audited(index.store.home, BY, "delete" if archive is None else "move") as subject:
        subject.append(entry.id)
        if archive is not None:
            freed = archive.move(run)
        else:
            index.store.delete(run)
            freed = entry.size_bytes or 0
    index.update([entry.id])
    return freed


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    lock = FileLock(home / LOCK, 0, 0o600, fallback_to_soft=False)
    with in_words(home):
        try:
            lock.acquire()
        except Timeout:
            raise StoreError("another process moves the runs of this store just now") from None
    try:
        yield
        os.utime(home / LOCK)
    finally:
        lock.release()


def trim(index: RunIndex, archive: RemoteArchive) -> int:
    """Remove the files fetched for the runs opened longest ago until the rest fit; return the freed bytes."""
    index.complete()
    entries = index.search(RunQuery().also("archived = 'here'"), MOST_RUNS).runs
    sizes = {}
    for entry in entries:
        moved = moved_of(run := index.run(entry.id))
        if moved is not None and not entry.status.live:
            sizes[run] = moved.unpacked_bytes
    freed, excess = 0, sum(sizes.values()) - archive.cache_bytes
    for run in sorted(sizes, key=lambda run: _opened_s(run.path / ARCHIVED))[:-1]:
        if freed >= excess:
            break
        freed += archive.let_go(run)
        index.update([run.path.name])
    return freed


def _opened_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def keep_retaining(home: Path, ended: threading.Event) -> None:
    """Apply the rules to a store after `FIRST_S` seconds and then every hour, until the event is set.

    The rules are applied in a process of low priority.
    """
    wait_s = FIRST_S
    while not ended.wait(wait_s):
        wait_s = PERIOD_S
        with suppress(CompileboardError, OSError):
            if (process := start_retention(home)) is not None:
                process.wait()


def start_retention(home: Path) -> subprocess.Popen[bytes] | None:
    """Apply the rules to a store in a process of low priority, or None; raises SettingError."""
    rules, moves = rules_of(os.environ), bool(os.environ.get(VARIABLE, "").strip())
    if not rules.are_set or not (moves or rules.deletes) or time.time() - _opened_s(home / LOCK) < PERIOD_S / 2:
        return None
    priority = ("nice", "-n", "19") if shutil.which("nice") else ()
    return start_for_home((*priority, *own_process("core", "prune", "--due", "--move" if moves else "--delete")), home)
