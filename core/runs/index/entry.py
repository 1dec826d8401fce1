"""Entry of the index: what a list shows of a run, read from its directory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from core.analysis.verdict import Summary
from core.base.errors import CompileboardError, StoreError
from core.base.files import regular
from core.base.words import count
from core.job import CompileJob
from core.job.targets import TARGETS
from core.runs.comments import COMMENTS, talk_of
from core.runs.index.query import Value, torch_key
from core.runs.marks import tags_of
from core.runs.rates import was_executed
from core.runs.remote import moved_of
from core.runs.sizes import ToolUse, bytes_within, tool_uses
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_summary

MOST_SETTINGS = 20
MOST_SETTING_CHARS = 200
MOST_REASON_CHARS = 1_000
# A larger directory has no size here: nobody waits until it is counted.
MOST_FILES = 20_000
# A directory that changed just now may change again without another modification time.
SETTLED_NS = 2_000_000_000
UNSETTLED = 0


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """A run in the index.

    `is_open` is True if the status may change without a change of the directory, `stamp` changes with the directory.
    `settings` are those that differ from a default job, and the device of a recorded run; `ranks` is their number;
    `is_cell` is True if a sweep made the run. `model`, `device` and `target` are the job's, empty for an imported log.
    `size_bytes` is None for a directory with too many files, `summary` until the report was made once. `tools` is empty
    in an entry from the file, which has a table of them. `archived` says whether large files were moved to an archive
    elsewhere, and are away or came back; `commented` is True if people wrote something about the run, and `comments`
    is the number of open threads.
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
        """The owner's name for the run, otherwise its title."""
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
        _summary(run, status),
        tools,
        "" if moved is None else "away" if moved.missing(run) else "here",
        bool(note) or regular(run.path / COMMENTS) is not None,
    )


def stamp_of(path: Path) -> int | None:
    """Return a number that changes whenever a file of the run, or of its log, or a tool result is made or removed.

    None if there is no such directory.
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
    """Return True if the status must be read again at each listing: it is live, or was left so by a lost owner."""
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


def _summary(run: Run, status: Status) -> Summary | None:
    return None if status.live or status.state == "damaged" else open_summary(run, stored_alone=True)


def columns(entry: IndexedRun) -> dict[str, Value | None]:
    """Return the columns of a run that a search uses; texts are in lower case."""
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
