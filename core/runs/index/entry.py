"""Index entries: the data shown in lists of runs, bytes on disk, and each visitor's usage of a store."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from core.analysis.verdict import Summary
from core.base.errors import CompileboardError, StoreError
from core.base.files import regular
from core.base.words import count
from core.job import CompileJob
from core.job.targets import TARGETS
from core.runs.comments import COMMENTS, tags_of, talk_of
from core.runs.index.query import Value, torch_key
from core.runs.people import RateEntry, was_executed
from core.runs.remote import moved_of
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_summary

MOST_SETTINGS = 20  #: settings of a run in the index
MOST_SETTING_CHARS = 200  #: a setting or another text of a job in the index
MOST_REASON_CHARS = 1_000  #: title, reason and origin in the index
# A larger directory has no size here: nobody waits until it is counted.
MOST_FILES = 20_000  #: files of a run whose sizes are summed for the index
# A directory that changed just now may change again without another modification time.
SETTLED_NS = 2_000_000_000
UNSETTLED = 0


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """A run in the index.

    `is_open` is True if the status may change without a change of the directory; `stamp` changes with the directory.
    `settings` are the job's settings that differ from a default job, and the device of a recorded run. `ranks` is the
    number of ranks. `is_cell` is True if a sweep made the run. `model`, `device` and `target` are the job's; they are
    empty for an imported log. `size_bytes` is None for a directory with too many files. `summary` is None until the
    report has been made once. `tools` is empty in an entry read from the index file, which stores tool results in
    another table. `archived` is `away` if large files are only in an archive elsewhere, `here` if they came back,
    otherwise empty. `commented` is True if people wrote something about the run, and `comments` is the number of open
    threads.
    """

    id: str
    status: Status
    is_open: bool = False
    stamp: int = UNSETTLED
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    audience: str = ""
    settings: tuple[str, ...] = ()
    ranks: int = 0
    is_cell: bool = False
    model: str = ""
    device: str = ""
    target: str = ""
    comments: int = 0
    size_bytes: int | None = None
    summary: Summary | None = None
    tools: tuple[ToolUse, ...] = ()
    archived: Literal["", "away", "here"] = ""
    commented: bool = False

    @property
    def title(self) -> str:
        """The owner's name for the run, otherwise its title, otherwise its id."""
        return self.name or self.status.title or self.id

    @property
    def details(self) -> tuple[str, ...]:
        """The settings, and the number of ranks if there are several."""
        return (*self.settings, *((count(self.ranks, "rank"),) if self.ranks > 1 else ()))


def read_entry(run: Run) -> IndexedRun | None:
    """Return the entry of a run, damaged or not; None if there is no such directory."""
    times = _times(run.path)
    if not times:
        return None
    try:
        return _entry(run, times)
    except (CompileboardError, OSError):
        # It was changed or deleted meanwhile.
        return IndexedRun(run.id, _cut(run.standing())) if _times(run.path) else None


def _entry(run: Run, times: list[int]) -> IndexedRun:
    status, job = run.standing_and_job()
    moved, note = moved_of(run), run.note()
    ranks, tools = run.ranks(), tuple(tool_uses(run))
    settings = (*(job.differences() if job else ()), *([status.recorded] if status.recorded else ()))
    return IndexedRun(
        run.id,
        _cut(status),
        _is_open(run, status) or any(tool.live for tool in tools),
        sum(times) if time.time_ns() - max(times) > SETTLED_NS else UNSETTLED,
        run.name(),
        note,
        tags_of(run),
        run.pinned,
        run.audience(),
        tuple(setting[:MOST_SETTING_CHARS] for setting in settings[:MOST_SETTINGS]),
        len(ranks),
        job is not None and bool(job.sweep),
        "" if job is None else f"{job.model.value[:MOST_SETTING_CHARS]} {job.model.name[:MOST_SETTING_CHARS]}",
        "" if job is None else job.device[:MOST_SETTING_CHARS],
        "" if job is None else _target(job),
        _open_threads(run),
        bytes_within(run, MOST_FILES),
        None if status.live or status.state == "damaged" else open_summary(run, stored_alone=True),
        tools,
        "" if moved is None else "away" if moved.missing(run) else "here",
        bool(note) or regular(run.path / COMMENTS) is not None,
    )


def stamp_of(path: Path) -> int | None:
    """Return a number that changes with the directories of the run; None if there is no such run.

    It changes whenever a file of the run or of its log, or a tool result, is created or removed.
    """
    return sum(_times(path)) or None


def _times(path: Path) -> list[int]:
    """Return the modification times of the directories of a run; empty if it is gone."""
    times: list[int] = []
    for directory in (str(path), f"{path}/trace", f"{path}/ranks/0", f"{path}/tools"):
        try:
            times.append(os.stat(directory).st_mtime_ns)
        except OSError:
            if not times:
                break
    return times


def _is_open(run: Run, status: Status) -> bool:
    """Return True if the status must be read at each listing: the run is live or has no final one."""
    if status.state == "interrupted" or (status.state == "done" and status.kind == "log"):
        return run.written_status().live
    return status.live


def _open_threads(run: Run) -> int:
    try:
        return talk_of(run).open_threads
    except StoreError:
        return 0


def _target(job: CompileJob) -> str:
    target = TARGETS.get(job.target)
    return f"{target.key} {target.title} {target.words}" if target else ""


def _cut(status: Status) -> Status:
    """Return a status with bounded texts."""
    return replace(
        status,
        title=status.title[:MOST_REASON_CHARS],
        reason=status.reason[:MOST_REASON_CHARS],
        origin=status.origin[:MOST_REASON_CHARS],
        recorded=status.recorded[:MOST_SETTING_CHARS],
        by=status.by[:MOST_REASON_CHARS],
        fingerprint=status.fingerprint[:MOST_SETTING_CHARS],
    )


def columns(entry: IndexedRun) -> dict[str, Value | None]:
    """Return a run's columns for search; texts that are searched by substring are in lower case."""
    status, summary = entry.status, entry.summary or Summary()
    speed = summary.speed
    interval = speed.interval if speed else None
    seen = "" if speed is None or interval is None else "faster" * speed.faster or "slower" * speed.slower or "unclear"
    device = " ".join((entry.device, summary.device, status.recorded))
    words = (entry.title, status.title, entry.note, *entry.tags, *entry.details, status.state, entry.id)
    return {
        "id": entry.id,
        "stamp": entry.stamp,
        "created_s": status.created_s,
        "live": status.live,
        "open": entry.is_open,
        "state": status.state,
        "kind": status.kind,
        "author": status.by,
        "audience": entry.audience,
        "fingerprint": status.fingerprint,
        "title": status.title,
        "model": f"{entry.title} {status.title} {entry.model}".casefold(),
        "device": device.casefold(),
        "target": entry.target.casefold(),
        "inputs": summary.inputs.casefold(),
        "torch": torch_key(summary.torch) if summary.torch else "",
        "tags": f" {' '.join(entry.tags)} ".casefold(),
        "pinned": entry.pinned,
        "comments": entry.comments,
        "cell": entry.is_cell,
        "outcome": summary.outcome,
        "speed": seen,
        "speedup": interval.middle if interval else None,
        "graphs": summary.graphs if entry.summary else None,
        "breaks": summary.breaks if entry.summary else None,
        "recompiles": summary.recompiles if entry.summary else None,
        "kernels": summary.kernels,
        "compile_s": summary.compile_s,
        "took_s": status.took_s,
        "started_s": status.started_s,
        "executed": was_executed(status),
        "archived": entry.archived,
        "commented": entry.commented,
        "size_bytes": entry.size_bytes,
        "memory_bytes": status.peak_memory_bytes,
        "words": " ".join(words).casefold(),
    }


TABLES = (
    "CREATE TABLE IF NOT EXISTS tools (run, author, live, size_bytes, started_s, took_s)",
    "CREATE INDEX IF NOT EXISTS of_run ON tools (run)",
    "CREATE INDEX IF NOT EXISTS of_requester ON tools (author)",
    "CREATE INDEX IF NOT EXISTS of_author ON runs (author, live, size_bytes)",
)
RUNS = "SELECT count(*), total(live), total(size_bytes) FROM runs"
TOOLS = "SELECT count(*), total(live), total(size_bytes) FROM tools"
# Results that others requested are in the bytes of a run, and count for who requested them.
TOOLS_OF_RUNS = "SELECT total(tools.size_bytes) FROM runs JOIN tools ON tools.run = runs.id WHERE runs.author = ?"
STARTED = (
    "SELECT created_s, started_s, started_s + took_s, live FROM runs WHERE author = ? AND executed "
    "AND (live OR created_s > ? OR started_s + took_s > ?)"
)
EXECUTED_TOOLS = (
    "SELECT started_s, started_s, started_s + took_s, live FROM tools WHERE author = ? AND started_s > 0 "
    "AND (live OR started_s + took_s > ?)"
)
UNCOUNTED = "SELECT id, author FROM runs WHERE size_bytes IS NULL"


def write_tools(connection: sqlite3.Connection, entries: Sequence[IndexedRun], gone: Iterable[tuple[str]]) -> None:
    """Replace the tool results of some runs, in the caller's transaction."""
    connection.executemany("DELETE FROM tools WHERE run = ?", [*((entry.id,) for entry in entries), *gone])
    rows = [(entry.id, *astuple(use)) for entry in entries for use in entry.tools]
    connection.executemany("INSERT INTO tools VALUES (?, ?, ?, ?, ?, ?)", rows)


def executions_of(connection: sqlite3.Connection, by: str, since_s: float) -> list[RateEntry]:
    """Return a visitor's runs created or executed since a time, and kernel tools executed since then.

    If the end is unknown because the owner is lost, the start counts as the end.
    """
    runs = connection.execute(STARTED, (by, since_s, since_s)).fetchall()
    tools = connection.execute(EXECUTED_TOOLS, (by, since_s)).fetchall()
    return [
        RateEntry(by, created_s, started_s, None if live else ended_s or started_s, is_run)
        for rows, is_run in ((runs, True), (tools, False))
        for created_s, started_s, ended_s, live in rows
    ]


def usage_of(connection: sqlite3.Connection, by: str) -> Usage:
    """Return the usage of the indexed runs; directories with too many files to be counted are left out."""
    _, queue, store_bytes = connection.execute(RUNS).fetchone()
    _, tool_queue, _ = connection.execute(TOOLS).fetchone()
    everyone = Usage(queue=int(queue), store_bytes=int(store_bytes), tool_queue=int(tool_queue))
    if not by:
        return everyone
    runs, live, size = connection.execute(f"{RUNS} WHERE author = ?", (by,)).fetchone()
    answers, live_tools, tools_size = connection.execute(f"{TOOLS} WHERE author = ?", (by,)).fetchone()
    (within,) = connection.execute(TOOLS_OF_RUNS, (by,)).fetchone()
    return Usage(
        int(live),
        runs,
        int(size - within + tools_size),
        everyone.queue,
        everyone.store_bytes,
        int(live_tools),
        answers,
        everyone.tool_queue,
    )


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a store by one visitor, and by all.

    `queue`, `store_bytes` and `tool_queue` are for all visitors. Kernel tool results (`answers`) count for the
    visitor who requested them.
    """

    live_runs: int = 0
    runs: int = 0
    visitor_bytes: int = 0
    queue: int = 0
    store_bytes: int = 0
    live_tools: int = 0
    answers: int = 0
    tool_queue: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A kernel tool result, finished or in progress, and its bytes on disk.

    `by` is the requester. `started_s` is None before the start, `took_s` before the end.
    """

    by: str
    live: bool
    size_bytes: int
    started_s: float | None = None
    took_s: float | None = None


def tool_uses(run: Run) -> Iterator[ToolUse]:
    """Yield the tool results of a run; unreadable results are left out."""
    for tool in run.tools():
        with suppress(StoreError):
            status = tool.status()
            yield ToolUse(status.by, status.live, bytes_of(tool), status.started_s, status.took_s)


def bytes_of(run: Run) -> int:
    """Return a run's bytes on disk; files that disappear meanwhile count as 0."""
    return sum(_file_sizes(run))


def bytes_within(run: Run, most_files: int) -> int | None:
    """Return a run's bytes on disk; None for a directory with more than `most_files` files."""
    sizes = list(islice(_file_sizes(run), most_files + 1))
    return sum(sizes) if len(sizes) <= most_files else None


def _file_sizes(run: Run) -> Iterator[int]:
    for directory, _, names in os.walk(run.path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(directory, name)).st_size
