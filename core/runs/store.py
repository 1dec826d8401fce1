"""Directory of all runs, and the files of each run directory.

  <home>/runs/<run id>/job.json       the job (not for an imported log)
                      /status.json    the status, replaced atomically; one process at a time writes it
                      /model.py       the code that was run
                      /original.py    the eager side's code if it differs: before fixes, or of an exercise
                      /backend.py     code of a custom backend
                      /rival_*.py     code of the alternative: rival_backend.py, rival_model.py
                      /name.txt       the owner's name for the run; note.txt: the note; tags.txt: the tags
                      /pinned         exists if the run may not be deleted
                      /audience.txt   who may see the run, if its author chose
                      /comments.json  comments on the run and its parts, and the pinned parts
                      /trace/*.log    PyTorch's structured trace; rank_3.log is the log of rank 3
                      /output.txt     the worker's printed output, bounded
                      /ranks/3/       report, summary and graphs of rank 3
                      /report.json    the report, rebuilt when the log is newer; summary-*.json: its summary
                      /report.*       for a large log: its index and outline, and the report's head and parts
                      /profile.json   a profile by torch.profiler, as it was added
                      /graphs/        the nodes and models of large graphs, rebuilt like the report
                      /programs/*     the accelerator's programs
                      /aoti/*         AOTInductor's package
                      /tools/*        results of kernel tools
                      /trials.json    results of trials of fixes; trials/* are trials that execute
                      /archived.json  the files that were moved to the remote archive
  <home>/index/                       the index, made from the runs
  <home>/cache/                       compiled objects that runs share
  <home>/servers/*.json               dashboards that listen on the store
  <home>/store-id                     the store's id in a cluster
  <home>/carried/                     locks of the cluster runs that a server transfers
  <home>/audit.jsonl                  the audit log
  <home>/deleted.jsonl                deleted runs and tool results that count for the hourly limits
Runs, index and cache are readable by their owner only. So is the home, unless it also has other files.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError
from core.base.files import (
    NO_FILE,
    OWNER_ALONE,
    in_words,
    keep_record,
    largest,
    make_home,
    one_line,
    open_regular,
    read,
    read_line,
    regular,
    remove,
    tidy,
    write_atomically,
    write_even_if_full,
)
from core.base.machine import default_home
from core.base.words import RUN_ID, creation_time_s, fresh_id, gib, ranges_words, slug_of, split_rank, with_rank
from core.job import MAX_CODE_BYTES, CompileJob, job_from_json, job_to_json
from core.runs.inputs import checked_logs
from core.runs.people import audited, note_deleted, read_audience, write_audience
from core.runs.processes.handles import LOCAL, handle_of_pids
from core.runs.processes.servers import address, announced
from core.runs.status import OWNER_ENDED, Liveness, Status
from core.trace.ranks import RankLogs, stored_name, stored_ranks

NAME, NOTE, RANKS, TOOLS = "name.txt", "note.txt", "ranks", "tools"
PINNED, ARCHIVED = "pinned", "archived.json"
MAX_LOG_BYTES = 8 * 1024**3  #: limit: a log that is added
MAX_STATUS_BYTES = 1_000_000  #: `status.json`
MAX_JOB_BYTES = 16_000_000  #: `job.json`
MOST_TAIL_BYTES = 20_000  #: limit: the end of a run's output
MOST_NAME_CHARS = 80  #: limit: a run's name
MOST_NOTE_CHARS = 400  #: limit: a run's note
MOST_TITLE_CHARS = 120  #: the title of an opened log, its file name
MOST_EARLIER = 5  #: limit: earlier logs of a directory that become runs


class _DamageError(StoreError):
    """Error for a run with an unreadable status."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory, with a check for live owners.

    `rank` is the rank whose log is shown, and is part of the id (`ID@3`). It is None for a run without ranks, and in a
    list of runs, where a run stands for all its ranks. The report, the verdict and the graphs are those of `rank`, or
    of the lowest rank if it is None.
    """

    id: str
    path: Path
    liveness: Liveness = field(default=LOCAL, compare=False, repr=False)
    rank: int | None = None

    @property
    def trace_dir(self) -> Path:
        """Directory of the worker's TORCH_TRACE log."""
        return self.path / "trace"

    @property
    def output_path(self) -> Path:
        """File of the worker's printed output."""
        return self.path / "output.txt"

    @property
    def report_path(self) -> Path:
        return self.made_dir / "report.json"

    @property
    def graphs_dir(self) -> Path:
        """Directory of the stored nodes and models of large graphs, named by the graph's offset in the log."""
        return self.made_dir / "graphs"

    @property
    def made_dir(self) -> Path:
        """Directory of the results from the log: the run's directory, or one for each rank."""
        rank = self._shown_rank()
        return self.path if rank is None else self.path / RANKS / str(rank)

    @property
    def model_path(self) -> Path:
        """The code that was run."""
        return self.path / "model.py"

    @property
    def original_path(self) -> Path:
        """The code of the eager side if it differs: the code before fixes, or an exercise's code."""
        return self.path / "original.py"

    def name(self) -> str:
        """Return the owner's name for the run; empty if there is none."""
        return read_line(self.path / NAME, MOST_NAME_CHARS)

    def note(self) -> str:
        """Return the owner's note; empty if there is none."""
        return read_line(self.path / NOTE, MOST_NOTE_CHARS)

    @property
    def pinned(self) -> bool:
        """True if the run must not be deleted."""
        return regular(self.path / PINNED) is not None

    def audience(self) -> str:
        """Return who may see the run: one of AUDIENCES, private if unknown, empty if not chosen."""
        return read_audience(self.path)

    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that have a log, lowest first; empty for a run without ranks."""
        return stored_ranks(self.trace_dir)

    def log_of(self, rank: int) -> Path:
        """Return the log of a rank, whether it exists or not."""
        return self.trace_dir / stored_name(rank)

    def tools(self) -> tuple[Run, ...]:
        """Return the run's kernel tool results, each as a Run of its directory."""
        names = os.listdir(self.path / TOOLS) if (self.path / TOOLS).is_dir() else ()
        return tuple(Run(f"{self.id}/{name}", self.path / TOOLS / name, self.liveness) for name in names)

    def of_rank(self, rank: int) -> Run:
        """Return the same run with another rank shown; raises StoreError if that rank has no log."""
        ranks = self.ranks()
        if rank not in ranks:
            known = f"its ranks are {ranges_words(ranks)}" if ranks else "its log is not split by ranks"
            raise StoreError(f"run `{self.path.name}` has no rank {rank}; {known}")
        return replace(self, id=with_rank(self.id, rank), rank=rank)

    def other_ranks(self) -> tuple[Run, ...]:
        """Return the run with each of its other ranks shown; empty for a run without ranks."""
        own = self._shown_rank()
        return tuple(replace(self, id=with_rank(self.id, rank), rank=rank) for rank in self.ranks() if rank != own)

    def is_same_run(self, run_id: str) -> bool:
        """Return True if an id belongs to this run, with any rank."""
        return split_rank(run_id)[0] == self.path.name

    def _shown_rank(self) -> int | None:
        return self.rank if self.rank is not None else next(iter(self.ranks()), None)

    def log_path(self) -> Path | None:
        """Return the log of the shown rank, or the largest; None before torch has written one."""
        rank = self._shown_rank()
        if rank is None:
            return largest(self.trace_dir, "*.log")
        return log if regular(log := self.log_of(rank)) else None

    def job(self) -> CompileJob | None:
        """Return the job; None for an imported log. Raises StoreError, JobError."""
        try:
            return job_from_json(read(self.path / "job.json", MAX_JOB_BYTES))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(error.strerror or str(error)) from None

    def code(self) -> str:
        """Return the code that was run; raises StoreError if it cannot be read."""
        try:
            return read(self.model_path, MAX_CODE_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            raise StoreError(f"the code of run {self.id} cannot be read") from None

    def output_tail(self, limit_bytes: int = MOST_TAIL_BYTES) -> str:
        """Return the end of the worker's printed output."""
        try:
            with open_regular(self.output_path) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - limit_bytes))
                return file.read(limit_bytes).decode("utf-8", "replace")
        except OSError:
            return ""

    def status(self) -> Status:
        """Return the stored status; if it is live without a live owner, the run is `interrupted`.

        A run of kind `log` is `done` instead if it has a log.
        """
        status = self.written_status()
        if not status.live or not status.handle or self.liveness.is_alive(status.handle):
            return status
        # An owner writes the final status before it ends, perhaps between the two reads here.
        gone = replace(status, state="interrupted", reason=OWNER_ENDED, handle="")
        if status.kind == "log" and self.log_path() is not None:
            gone = replace(gone, state="done", reason="")
        return gone if (latest := self.written_status()) == status else latest

    def written_status(self) -> Status:
        """Return the last written status; raises StoreError if it cannot be read."""
        try:
            data = read(self.path / "status.json", MAX_STATUS_BYTES)
            status = decoded_as(data, Status)
            return status if status.handle or not status.live else replace(status, handle=handle_of_pids(data))
        except (OSError, DecodeError):
            raise _DamageError(f"run {self.id} has no readable status; delete it, or run the job again") from None

    def standing(self) -> Status:
        """Return the displayed status: `damaged`, with the reason, if the run's files cannot be read."""
        return self.standing_and_job()[0]

    def standing_and_job(self) -> tuple[Status, CompileJob | None]:
        """Return the displayed status and the job; None if either is missing or unreadable."""
        try:
            status = self.status()
        except StoreError as error:
            return _damaged_status(self, str(error)), None
        try:
            job = self.job()
        except CompileboardError as error:
            return _damaged_status(self, f"its job.json cannot be read: {error}", status), None
        reason = self._why_no_log(status)
        return _damaged_status(self, reason, status) if reason else status, job

    def _why_no_log(self, status: Status) -> str:
        """Return why the run's log cannot be read; empty if it can be read, or does not exist yet."""
        log = self.log_path()
        if log is not None:
            return "" if os.access(log, os.R_OK) else "its log cannot be read: permission denied"
        if any(self.trace_dir.glob("*.log")):
            return f"its log cannot be read: {NO_FILE}"
        gone = status.kind == "log" and status.state == "done" and regular(self.path / ARCHIVED) is None
        return "its log is gone" * gone

    def write_status(self, status: Status) -> None:
        """Replace the status atomically, so that no reader sees a partial one; raises StoreError."""
        path, data = self.path / "status.json", msgspec.json.encode(status)
        with in_words(self.path):
            write_even_if_full(path, data)


def _write_opened(run: Run, created_s: float, title: str, by: str, origin: str) -> None:
    run.write_status(
        Status("done", created_s, kind="log", started_s=created_s, ended_s=created_s, title=title, by=by, origin=origin)
    )


def _damaged_status(run: Run, reason: str, status: Status | None = None) -> Status:
    """Return a damaged status; its time and title come from the run's id if there is no status."""
    status = status or Status("damaged", creation_time_s(run.id), title=slug_of(run.id))
    return replace(status, state="damaged", reason=reason, handle="")


class Store:
    """The runs below one directory: `home`, otherwise `COMPILEBOARD_HOME`, otherwise `~/.compileboard`."""

    def __init__(self, home: Path | None = None, max_log_bytes: int = MAX_LOG_BYTES) -> None:
        self._max_log_bytes = max_log_bytes
        self.liveness: Liveness = LOCAL
        self.home = (home or default_home()).resolve()
        self.runs_dir, self.cache_dir, self.index_dir = (self.home / name for name in ("runs", "cache", "index"))
        make_home(self.home, self.runs_dir, self.cache_dir)
        tidy(self.runs_dir)

    def with_liveness(self, liveness: Liveness) -> Store:
        """Return a copy of this store that uses an engine's check for live owners."""
        (store := copy(self)).liveness = liveness
        return store

    def create(self, job: CompileJob, fingerprint: str = "", code: str = "", by: str = "", original: str = "") -> Run:
        """Create a queued run directory for a job, its code and its code before fixes; raises StoreError."""
        with self.making(job.title()) as fresh:
            (fresh.path / "job.json").write_bytes(job_to_json(job))
            fresh.model_path.write_text(code, encoding="utf-8")
            if job.has_original:
                fresh.original_path.write_text(original, encoding="utf-8")
            for name, extra in job.code_files.items():
                (fresh.path / name).write_text(extra, encoding="utf-8")
            status = Status("queued", time.time(), handle=self.liveness.local_handle(), by=by)
            fresh.write_status(replace(status, fingerprint=fingerprint, title=job.title()))
        return self.open(fresh.id)

    def add_log(
        self,
        name: str,
        source: BinaryIO,
        by: str = "",
        most_bytes: int = MAX_LOG_BYTES,
        logs_of: Callable[[Path, Path, str, int], RankLogs] = checked_logs,
    ) -> Run:
        """Create a run with a copy of an imported log, or with the logs of an archive.

        An archive has at most `most_bytes` unpacked. `logs_of` unpacks and checks the logs, like `checked_logs`.
        Raises StoreError if the file is too large or not a trace,
        TraceError if the archive is too large, damaged, or without logs.
        """
        title = one_line(Path(name).name, MOST_TITLE_CHARS) or "log"
        with self._importing(name) as (fresh, scratch):
            brought, most_bytes = scratch / "brought", min(most_bytes, self._max_log_bytes)
            self._copy(source, brought)
            self._add_logs(fresh, logs_of(brought, scratch, title, most_bytes), title, by)
        return self.open(fresh.id)

    def add_path(self, path: Path, by: str = "") -> Run:
        """Create a run with copies of the logs at a path; raises StoreError, TraceError."""
        title = one_line(path.name, MOST_TITLE_CHARS) or "log"
        with self._importing(path.name) as (fresh, scratch):
            self._add_logs(fresh, checked_logs(path, scratch, most_bytes=self._max_log_bytes), title, by)
        return self.open(fresh.id)

    def add_followed(self, name: str, by: str, origin: str) -> Run:
        """Create a live run without a log for the process that follows it; raises StoreError."""
        with self.making(name) as fresh:
            title = one_line(name, MOST_TITLE_CHARS) or "log"
            handle = self.liveness.local_handle()
            fresh.write_status(
                Status("queued", time.time(), kind="log", handle=handle, title=title, by=by, origin=origin)
            )
        return self.open(fresh.id)

    def add_in_process(self, name: str, origin: str) -> Run:
        """Create a live run of this process, which writes the log itself; raises StoreError."""
        with self.making(name) as fresh:
            now, handle = time.time(), self.liveness.local_handle()
            title = one_line(name, MOST_TITLE_CHARS) or "log"
            status = Status("running", now, "log", started_s=now, handle=handle, title=title, origin=origin)
            fresh.write_status(replace(status, in_process=True))
        return self.open(fresh.id)

    @contextmanager
    def _importing(self, name: str) -> Iterator[tuple[Run, Path]]:
        """Create a run directory with a scratch directory for unpacked files, which is removed at the end."""
        with self.making(Path(name).stem) as fresh:
            scratch = fresh.path / "unpacked"
            scratch.mkdir()
            yield fresh, scratch
            shutil.rmtree(scratch)

    def _add_logs(self, fresh: Run, logs: RankLogs, title: str, by: str) -> None:
        """Move or copy logs into the run's directory, and write the status; earlier ones become runs."""
        room = self._max_log_bytes
        for rank, log in logs.used.items():
            room -= self._take(log, fresh.trace_dir / stored_name(rank), fresh, room)
        now, opened = time.time(), 0
        for number, (log, name) in enumerate(list(logs.earlier.items())[:MOST_EARLIER], 1):
            if log.stat().st_size > room:
                break
            with self.making(Path(name).stem) as earlier:
                room -= self._take(log, earlier.trace_dir / stored_name(None), fresh, room)
                name_of_run = f"{title[: MOST_TITLE_CHARS // 2]} · {one_line(name, MOST_TITLE_CHARS // 2)}"
                _write_opened(earlier, now - number / 1e3, name_of_run, by, "")
            opened = number
        which = "They are" if opened == len(logs.earlier) else f"The {opened} newest of them are"
        compare = f"{which} separate runs, ready for Compare." if opened else ""
        _write_opened(fresh, now, title, by, " ".join(filter(None, (logs.origin, compare))))

    def _take(self, log: Path, target: Path, fresh: Run, room: int) -> int:
        """Move a log of the fresh run's directory, or copy it; return its bytes."""
        if log.is_relative_to(fresh.path):
            log.rename(target)
        else:
            with open_regular(log) as source:
                self._copy(source, target, room)
        return target.stat().st_size

    def _copy(self, source: BinaryIO, target: Path, most_bytes: int | None = None) -> int:
        """Copy a log; return its bytes."""
        most_bytes = self._max_log_bytes if most_bytes is None else most_bytes
        with target.open("wb") as file:
            while chunk := source.read(1 << 20):
                if file.tell() + len(chunk) > most_bytes:
                    raise StoreError(f"the log is larger than {gib(self._max_log_bytes)}")
                file.write(chunk)
            return file.tell()

    def open(self, run_id: str) -> Run:
        """Return a stored run by its id; `ID@3` shows that rank, otherwise the lowest. Raises StoreError."""
        name, rank = split_rank(run_id)
        if not name or not (self.runs_dir / name).is_dir():
            raise self.missing(run_id)
        run = Run(name, self.runs_dir / name, self.liveness)
        ranks = () if rank is not None else run.ranks()
        return run.of_rank(ranks[0] if rank is None else rank) if rank is not None or ranks else run

    @staticmethod
    def missing(run_id: str) -> StoreError:
        """Return the error for a run that is not in the store."""
        return StoreError(f"there is no run `{run_id[:80]}` here; it may have been deleted")

    def list(self) -> list[tuple[Run, Status]]:
        """Return every run, newest first; unreadable runs have the status `damaged`."""
        names = filter(RUN_ID.fullmatch, os.listdir(self.runs_dir) if self.runs_dir.is_dir() else ())
        runs = (Run(name, self.runs_dir / name, self.liveness) for name in names)
        listed = ((run, run.standing()) for run in runs)
        there = (pair for pair in listed if pair[1].state != "damaged" or os.path.lexists(pair[0].path))
        return sorted(there, key=lambda pair: pair[1].created_s, reverse=True)

    def rename(self, run: Run, name: str) -> None:
        """Set a run's name; an empty one restores its title. Raises StoreError."""
        with in_words(run.path):
            write_atomically(run.path / NAME, one_line(name, MOST_NAME_CHARS).encode())

    def annotate(self, run: Run, note: str) -> None:
        """Set the note of a run; an empty one removes it. Raises StoreError."""
        with in_words(run.path):
            write_atomically(run.path / NOTE, one_line(note, MOST_NOTE_CHARS).encode())

    def set_audience(self, run: Run, audience: str) -> None:
        """Set who may see a run, one of AUDIENCES; raises StoreError."""
        write_audience(run.path, audience)

    def audited(self, by: str, action: str) -> AbstractContextManager[MutableSequence[str]]:
        """Log a person's action in this context; the caller adds its subjects to the yielded list."""
        return audited(self.home, by, action)

    def announced(self, url: str) -> AbstractContextManager[None]:
        """Announce the address of a dashboard of this process in the store while the context is entered."""
        return announced(self.home, url)

    def dashboard(self) -> str:
        """Return the address of the newest live dashboard of the store; empty if there is none."""
        return address(self.home)

    def delete(self, run: Run) -> None:
        """Delete a run permanently, even a damaged one; raises StoreError if it is live or pinned."""
        if run.pinned:
            raise StoreError(f"the run {run.id} is pinned; unpin it first")
        with suppress(_DamageError):
            if (status := run.status()).live:
                raise StoreError("the run is still going; cancel it first")
            note_deleted(self.home, status)
        for tool in run.tools():
            with suppress(StoreError):
                note_deleted(self.home, tool.status(), is_run=False)
        keep_record(self.home, run.path.name, run.path / ARCHIVED)
        gone = run.path.with_name(f".{run.path.name}.{secrets.token_hex(4)}")
        with in_words(run.path):
            run.path.rename(gone)
            remove(gone)

    @contextmanager
    def making(self, title: str, run_id: str = "") -> Iterator[Run]:
        """Create a directory that becomes a run when it is completely written; it is removed on an error."""
        run_id = run_id or fresh_id(title, self.runs_dir)
        fresh = Run(run_id, self.runs_dir / f".{run_id}.{secrets.token_hex(4)}", self.liveness)
        with in_words(self.home):
            try:
                self.runs_dir.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
                fresh.path.mkdir(mode=OWNER_ALONE)
                fresh.trace_dir.mkdir()
                yield fresh
                fresh.path.rename(self.runs_dir / run_id)
            except BaseException:
                shutil.rmtree(fresh.path, ignore_errors=True)
                raise
