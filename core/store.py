"""Which file is where in a run directory, and the directory of all runs.

<home>/runs/<run id>/job.json       what was asked for (not for an opened log)
                    /status.json    where it stands; written whole, by one process at a time
                    /model.py       the code as it was when it ran
                    /trace/*.log    PyTorch's structured trace
                    /output.txt     what the worker printed, bounded
                    /report.json    the report, made again whenever the log is newer
                    /graphs/*.json  the nodes of large graphs, as the report
<home>/cache/                       compiled objects that runs share

Runs and cache are their owner's alone, and so is the home unless it holds other things, too.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec
import psutil

from core.errors import JobError, StoreError
from core.job import CompileJob, job_from_json, job_to_json
from core.trace import NO_RECORD, has_record

State = Literal[
    "queued",
    "running",
    "done",
    "failed",
    "cancelled",
    "timed out",
    "out of memory",
    "crashed",
    "interrupted",
    "damaged",
]
LIVE: tuple[State, ...] = ("queued", "running")
RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}")
MAX_LOG_BYTES = 8 * 1024**3
OWNER_ALONE = 0o700
ROOT = 0
# A directory without a status is being made or deleted, as long as it is so young.
MAKING_S = 5.0


class _Damaged(StoreError):
    """A run whose status cannot be read."""


@dataclass(frozen=True, slots=True)
class Status:
    """Where a run stands. Times are seconds since the epoch; `reason` says in words why it ended as it did.

    `pid` is its keeper, or who queued it; `watcher_pid` the fork server, which ends what a dead keeper leaves.
    `by` is the visitor whose run it is, nothing for the server's owner.
    """

    state: State
    created_s: float
    kind: Literal["run", "log"] = "run"
    started_s: float | None = None
    ended_s: float | None = None
    reason: str = ""
    exit_code: int | None = None
    signal: str | None = None
    pid: int | None = None
    pid_created_s: float | None = None
    watcher_pid: int | None = None
    watcher_created_s: float | None = None
    peak_memory_bytes: int | None = None
    fingerprint: str = ""
    title: str = ""
    by: str = ""

    @property
    def live(self) -> bool:
        """Whether the run is still waiting or working."""
        return self.state in LIVE


@dataclass(frozen=True, slots=True)
class Run:
    """One run directory."""

    id: str
    path: Path

    @property
    def trace_dir(self) -> Path:
        """Where the worker's TORCH_TRACE log is written."""
        return self.path / "trace"

    @property
    def output_path(self) -> Path:
        """What the worker printed."""
        return self.path / "output.txt"

    @property
    def report_path(self) -> Path:
        """The stored report."""
        return self.path / "report.json"

    @property
    def graphs_dir(self) -> Path:
        """Nodes of large graphs, by the offset of their text in the log."""
        return self.path / "graphs"

    @property
    def model_path(self) -> Path:
        """The code that was run."""
        return self.path / "model.py"

    def log_path(self) -> Path | None:
        """The largest trace log, None before torch has written one."""
        logs = sorted(self.trace_dir.glob("*.log"), key=lambda path: path.stat().st_size)
        return logs[-1] if logs else None

    def job(self) -> CompileJob | None:
        """The job, None for an opened log."""
        path = self.path / "job.json"
        return job_from_json(path.read_bytes()) if path.exists() else None

    def output_tail(self, limit_bytes: int = 20_000) -> str:
        """The end of what the worker printed."""
        if not self.output_path.exists():
            return ""
        with self.output_path.open("rb") as file:
            file.seek(max(0, self.output_path.stat().st_size - limit_bytes))
            return file.read(limit_bytes).decode("utf-8", "replace")

    def status(self) -> Status:
        """The stored status; a run whose keeper is gone, and who would end what it left, is `interrupted`."""
        status = self.written_status()
        if status.live and status.pid is not None and not _alive(status) and not _watched(status):
            return replace(status, state="interrupted", reason="the server that ran it ended", pid=None)
        return status

    def written_status(self) -> Status:
        """The status as it was written last."""
        try:
            return msgspec.json.decode((self.path / "status.json").read_bytes(), type=Status)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            raise _Damaged(f"run {self.id} has no readable status; delete it, or run the job again") from None

    def standing(self) -> Status:
        """The status as it is shown: of a run whose files cannot be read it is `damaged`, with the reason."""
        try:
            status = self.status()
        except StoreError as error:
            return _damaged(self, str(error))
        try:
            self.job()
        except (JobError, OSError) as error:
            return _damaged(self, f"its job.json cannot be read: {error}", status)
        return status

    def write_status(self, status: Status) -> None:
        """Replace the status in one step, so that no reader sees half of it."""
        write_atomically(self.path / "status.json", msgspec.json.encode(status))


def _damaged(run: Run, reason: str, status: Status | None = None) -> Status:
    """Made at the time, and with the title, that the run's id tells, where its status does not."""
    stamp, slug = run.id[:15], run.id[16:-5]
    made = status or Status("damaged", time.mktime(time.strptime(stamp, "%Y%m%d-%H%M%S")), title=slug)
    return replace(made, state="damaged", reason=reason, pid=None)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    temporary.write_bytes(data)
    temporary.replace(path)


def _in_the_making(path: Path) -> bool:
    try:
        return not (path / "status.json").exists() and time.time() - path.stat().st_mtime < MAKING_S
    except OSError:
        return True


def _alive(status: Status) -> bool:
    try:
        process = psutil.Process(status.pid)
        same = abs(process.create_time() - (status.pid_created_s or 0)) < 2
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _watched(status: Status) -> bool:
    """Whether the fork server is there, which ends what a dead keeper leaves and tells of it."""
    watcher = replace(status, pid=status.watcher_pid, pid_created_s=status.watcher_created_s)
    return status.watcher_pid is not None and _alive(watcher)


def _make_private(directory: Path) -> None:
    """A directory that its owner alone can enter; one that is there already is tightened, where that can be done.

    What is compiled is kept in it and loaded again, so one that another user has made raises StoreError.
    """
    directory.mkdir(exist_ok=True, mode=OWNER_ALONE)
    found = directory.stat()
    if hasattr(os, "getuid") and found.st_uid not in (os.getuid(), ROOT):
        raise StoreError(f"{directory} belongs to another user; set COMPILEBOARD_HOME to a directory of your own")
    if stat.S_IMODE(found.st_mode) != OWNER_ALONE:
        with contextlib.suppress(OSError):
            directory.chmod(OWNER_ALONE)


def default_home() -> Path:
    """`COMPILEBOARD_HOME`, or `~/.compileboard`."""
    return Path(os.environ.get("COMPILEBOARD_HOME") or Path.home() / ".compileboard").expanduser()


class Store:
    """All runs below one directory."""

    def __init__(self, home: Path | None = None, max_log_bytes: int = MAX_LOG_BYTES) -> None:
        self._max_log_bytes = max_log_bytes
        self.home = (home or default_home()).resolve()
        self.runs_dir = self.home / "runs"
        self.cache_dir = self.home / "cache"
        self.home.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        if {item.name for item in self.home.iterdir()} <= {"runs", "cache"}:
            _make_private(self.home)
        _make_private(self.runs_dir)
        _make_private(self.cache_dir)

    def create(self, job: CompileJob, fingerprint: str = "", by: str = "") -> Run:
        """A fresh run directory for a job, queued."""
        run = self._fresh(job.title())
        (run.path / "job.json").write_bytes(job_to_json(job))
        pid = os.getpid()
        created_s = psutil.Process(pid).create_time()
        run.write_status(
            Status(
                "queued",
                time.time(),
                pid=pid,
                pid_created_s=created_s,
                fingerprint=fingerprint,
                title=job.title(),
                by=by,
            )
        )
        return run

    def add_log(self, name: str, source: BinaryIO, by: str = "") -> Run:
        """A run made of a log from elsewhere, copied; raises StoreError if it is too large, or no trace at all."""
        run = self._fresh(Path(name).stem)
        target = run.trace_dir / "opened.log"
        left = self._max_log_bytes
        with target.open("wb") as file:
            while chunk := source.read(1 << 20):
                left -= len(chunk)
                if left < 0:
                    shutil.rmtree(run.path)
                    raise StoreError(f"the log is larger than {self._max_log_bytes / 1024**3:.3g} GiB")
                file.write(chunk)
        if not has_record(target):
            shutil.rmtree(run.path)
            raise StoreError(NO_RECORD)
        now = time.time()
        title = re.sub(r"[\x00-\x1f\x7f]", "", Path(name).name)[:120] or "log"
        run.write_status(Status("done", now, kind="log", started_s=now, ended_s=now, title=title, by=by))
        return run

    def open(self, run_id: str) -> Run:
        """A stored run by its id; raises StoreError."""
        if not RUN_ID.fullmatch(run_id) or not (self.runs_dir / run_id).is_dir():
            raise StoreError(f"there is no run `{run_id[:80]}` here; it may have been deleted")
        return Run(run_id, self.runs_dir / run_id)

    def list(self) -> list[tuple[Run, Status]]:
        """Every run, newest first; one that cannot be read is damaged."""
        runs = [Run(path.name, path) for path in self.runs_dir.iterdir() if RUN_ID.fullmatch(path.name)]
        found = [(run, run.standing()) for run in runs if not _in_the_making(run.path)]
        return sorted(found, key=lambda pair: pair[1].created_s, reverse=True)

    def find(self, fingerprint: str) -> Run | None:
        """The newest finished run of the same job, code and torch."""
        for run, status in self.list():
            if status.fingerprint == fingerprint and status.state == "done":
                return run
        return None

    def delete(self, run: Run) -> None:
        """Remove a run for good, a damaged one too; raises StoreError while it is live."""
        with contextlib.suppress(_Damaged):
            if run.status().live:
                raise StoreError("the run is still going; cancel it first")
        shutil.rmtree(run.path)

    def _fresh(self, title: str) -> Run:
        slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40] or "run"
        stamp = time.strftime("%Y%m%d-%H%M%S")
        run_id = f"{stamp}-{slug}-{secrets.token_hex(2)}"
        run = Run(run_id, self.runs_dir / run_id)
        run.path.mkdir(mode=OWNER_ALONE)
        run.trace_dir.mkdir()
        return run
