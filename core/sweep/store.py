"""Stored sweeps of a home, one directory each, and the rows of their tables.

A row is a cell with the results of its run.

<home>/sweeps/<sweep id>/sweep.json       axes and run ids; written by the process that executes the sweep
                        /name.txt         the owner's name for the sweep, if it is not the title
                        /audience.txt     who may see the sweep and the runs of its cells, if the author chose
                        /stop             exists after a stop request
                        /lock             locked by the process that executes the cells
                        /rows/<run>.json  the row of a finished run, recreated if missing
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from core.analysis.dynamo.costs import FrameStart
from core.analysis.interval import Interval
from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, JobError, StoreError, WorkerError
from core.base.files import (
    OWNER_ALONE,
    in_words,
    make_private,
    one_line,
    read,
    read_line,
    regular,
    remove,
    tidy_sweeps,
    write_atomically,
)
from core.base.words import RUN_ID, count
from core.report import How
from core.report.run import FilledCaches
from core.runs.people import read_audience, write_audience
from core.runs.processes.handles import handle_of_pids
from core.runs.status import State, Status
from core.runs.store import MOST_NAME_CHARS, Run, Store
from core.sweep.model import Sweep, check_axes

MAX_SWEEP_BYTES = 32_000_000  #: `sweep.json`
NAME, STOP, LOCK, ROWS = "name.txt", "stop", "lock", "rows"


class SweepStore:
    """The sweeps in a store's home."""

    def __init__(self, store: Store) -> None:
        self.runs = store
        self.sweeps_dir = store.home / "sweeps"
        with in_words(store.home):
            make_private(self.sweeps_dir)
        tidy_sweeps(self.sweeps_dir)

    def path(self, sweep_id: str) -> Path:
        """Return the directory of an existing sweep; raises StoreError."""
        path = self.sweeps_dir / sweep_id
        if not RUN_ID.fullmatch(sweep_id) or not path.is_dir():
            raise StoreError(f"there is no sweep `{sweep_id[:80]}` here; it may have been deleted")
        return path

    def create(self, sweep: Sweep) -> Sweep:
        """Store a new sweep; raises StoreError."""
        fresh = self.sweeps_dir / f".{sweep.id}.{secrets.token_hex(4)}"
        with in_words(self.sweeps_dir):
            try:
                fresh.mkdir(mode=OWNER_ALONE)
                (fresh / ROWS).mkdir()
                (fresh / "sweep.json").write_bytes(_encoded(sweep))
                fresh.rename(self.sweeps_dir / sweep.id)
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
        return sweep

    def open(self, sweep_id: str) -> Sweep:
        """Return a stored sweep; raises StoreError if it is missing or invalid."""
        path = self.path(sweep_id)
        try:
            data = read(path / "sweep.json", MAX_SWEEP_BYTES)
            sweep = decoded_as(data, Sweep)
            sweep = replace(sweep, handle=sweep.handle or handle_of_pids(data), audience=self.audience(sweep_id))
            check_axes(sweep.axes)
        except (OSError, DecodeError, JobError) as error:
            raise StoreError(f"sweep {sweep_id} cannot be read: {error}; delete it, or start another") from None
        if sweep.id != sweep_id or not all(run == "" or RUN_ID.fullmatch(run) for run in sweep.runs):
            raise StoreError(f"sweep {sweep_id} is not what it should be; delete it, or start another")
        return sweep

    def write(self, sweep: Sweep) -> None:
        """Store a changed sweep; raises StoreError."""
        path = self.path(sweep.id)
        with in_words(path):
            write_atomically(path / "sweep.json", _encoded(sweep))

    def changed_ns(self, sweep_id: str) -> int:
        """Return the time in ns of the sweep's last change, such as a cell's start or end.

        Pages and commands that wait for a change compare this time. Raises StoreError.
        """
        path = self.path(sweep_id)
        with in_words(path):
            return max(changed.stat().st_mtime_ns for changed in (path, path / ROWS))

    def list(self) -> list[Sweep]:
        """Return every readable sweep, newest first."""
        sweeps = []
        for sweep_id in self._ids():
            with contextlib.suppress(StoreError):
                sweeps.append(self.open(sweep_id))
        return sorted(sweeps, key=lambda sweep: sweep.created_s, reverse=True)

    def damaged(self) -> dict[str, str]:
        """Return sweep id → reason for each sweep that cannot be read."""
        reasons = {}
        for sweep_id in self._ids():
            try:
                self.open(sweep_id)
            except StoreError as error:
                reasons[sweep_id] = str(error)
        return reasons

    def _ids(self) -> tuple[str, ...]:
        names = os.listdir(self.sweeps_dir) if self.sweeps_dir.is_dir() else []
        return tuple(name for name in names if RUN_ID.fullmatch(name))

    def rename(self, sweep_id: str, name: str) -> None:
        """Rename a sweep; an empty name restores its title. Raises StoreError."""
        path = self.path(sweep_id)
        with in_words(path):
            write_atomically(path / NAME, one_line(name, MOST_NAME_CHARS).encode())

    def name(self, sweep_id: str) -> str:
        """Return the name that a sweep's owner gave it; empty if there is none."""
        try:
            return read_line(self.path(sweep_id) / NAME, MOST_NAME_CHARS)
        except StoreError:
            return ""

    def audience(self, sweep_id: str) -> str:
        """Return who may see a sweep, one of AUDIENCES; empty if its author did not choose."""
        return read_audience(self.sweeps_dir / sweep_id)

    def set_audience(self, sweep_id: str, audience: str) -> None:
        """Set the audience of a sweep and of its cells' runs: one of AUDIENCES; raises StoreError."""
        write_audience(self.path(sweep_id), audience)
        for run in self._own_runs(sweep_id):
            self.runs.set_audience(run, audience)

    def request_stop(self, sweep_id: str) -> None:
        """Request a stop from the process that executes the sweep; raises StoreError."""
        path = self.path(sweep_id)
        with in_words(path):
            (path / STOP).touch()

    def forget_stop(self, sweep_id: str) -> None:
        """Remove the stop request."""
        path = self.path(sweep_id)
        with in_words(path):
            (path / STOP).unlink(missing_ok=True)

    def is_to_stop(self, sweep_id: str) -> bool:
        """Return True if a stop was requested or the sweep is gone."""
        path = self.sweeps_dir / sweep_id
        return (path / STOP).exists() or not path.is_dir()

    @contextlib.contextmanager
    def claimed(self, sweep_id: str) -> Iterator[None]:
        """Claim a sweep's execution; raises WorkerError if another process has it."""
        path = self.path(sweep_id) / LOCK
        with in_words(path):
            # Only a regular file can be locked by our processes; anything else was put there from outside.
            if os.path.lexists(path) and (path.is_symlink() or regular(path) is None):
                remove(path)
            # The lock is taken in one thread and released in another. Without a lock, a file would outlive a killed
            # process.
            lock = FileLock(path, 0, 0o600, thread_local=False, fallback_to_soft=False)
            try:
                lock.acquire()
            except Timeout:
                raise WorkerError("the sweep is already running, here or in another process") from None
        try:
            yield
        finally:
            lock.release()

    def delete(self, sweep_id: str, with_runs: bool = False) -> None:
        """Delete a sweep, and its runs if `with_runs` is True.

        Raises StoreError, and WorkerError while a process executes the sweep.
        """
        path = self.path(sweep_id)
        with self.claimed(sweep_id):
            if with_runs:
                for run in self._own_runs(sweep_id):
                    with contextlib.suppress(CompileboardError):
                        self.runs.delete(run)
            gone = path.with_name(f".{sweep_id}.{secrets.token_hex(4)}")
            with in_words(path):
                path.rename(gone)
                remove(gone)

    def _own_runs(self, sweep_id: str) -> Iterator[Run]:
        """Yield the runs whose job names this sweep."""
        for run_id in filter(None, self.open(sweep_id).runs):
            with contextlib.suppress(CompileboardError):
                run = self.runs.open(run_id)
                job = run.job()
                if job is not None and job.sweep == sweep_id:
                    yield run


def _encoded(sweep: Sweep) -> bytes:
    """Return a sweep as JSON without its audience, which is stored in a separate file."""
    return msgspec.json.encode(replace(sweep, audience=""))


RowState = Literal["waiting"] | State
Claim = Literal["faster", "slower", "no difference seen", "too few samples to say", "not measurable", ""]

# States of a run that ended by itself; an interrupted run is repeated.
SETTLED = ("done", "failed", "timed out", "out of memory", "crashed")
# Signals that end a worker from outside. The supervisor also sends them, but then records its own reason.
KILLED = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


@dataclass(frozen=True, slots=True)
class SweepCall:
    """A call of a cell's run.

    `eager_s` and `compiled_s` are the seconds of its first execution. `compilations` is None if not recorded. `how` is
    the kind of execution, and `ended` torch's message if the call raised.
    """

    inputs: str
    eager_s: float | None
    compiled_s: float | None
    compilations: int | None = None
    ended: str = ""
    how: How = ""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A cell and the results in its report; values that were not recorded are None or empty.

    `at` has the label of each axis. `state` is `waiting` as long as the cell has no run. `error` is why the run
    did not end as done, in torch's words if torch gave a reason. `ratio` is eager / compiled in the steady state,
    and `claim` is the conclusion from this ratio. `disturbed` describes noise on the machine, empty for a quiet
    machine.

    `phases_s` has the compile times by phase class. `kernels` and `kernel_calls` count the newest compilation of
    each frame, which is the code that a call runs. `kernels_made` counts the kernels of all compilations.
    `stages` are the stages with a graph in the log. `passes` are the passes that changed a graph. `chosen` has
    the autotuning choice for each kernel or op. `parts_s` has the seconds of each part of a compiled call.
    `guards_us` is the guard time of the newest compilations. `directions_s` has the seconds of forward and
    backward.

    `against` is the rival's seconds per call over this configuration's, None if no rival was timed. `code` is a digest
    of all output code.

    `made` has a digest of the kernels and a digest of the lines that call them. `generated` counts kernels
    without library calls. `skips` counts graphs that did not become CUDA graphs, and `skipped` is torch's reason.
    `frames` are the compilations that took longest. `filled` are the caches that an earlier process filled.
    `saved` are the bytes of activations saved for the backward, and the number of recomputed ops.
    `numerics_words` is the result of the comparison with float64. `killed` is True if the worker was ended from
    outside. `took_s` is the run's total time, or the elapsed time of a live run. `node` is the machine of a
    cluster that executed the run.
    """

    at: tuple[str, ...]
    run: str = ""
    state: RowState = "waiting"
    error: str = ""
    torch: str = ""
    device: str = ""
    threads: int | None = None
    eager_s: float | None = None
    compiled_s: float | None = None
    ratio: Interval | None = None
    claim: Claim = ""
    eager_quartiles_s: tuple[float, float] | None = None
    compiled_quartiles_s: tuple[float, float] | None = None
    samples: int = 0
    disturbed: str = ""
    calls: tuple[SweepCall, ...] = ()
    compile_s: float | None = None
    phases_s: dict[str, float] = field(default_factory=dict)
    compilations: int | None = None
    graphs: int | None = None
    breaks: int | None = None
    recompiles: int | None = None
    kernels: int | None = None
    kernel_calls: int | None = None
    kernels_made: int | None = None
    kernel_names: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)
    parts_s: dict[str, float] = field(default_factory=dict)
    guards_us: float | None = None
    results: str = ""
    results_words: str = ""
    eager_peak_bytes: int | None = None
    compiled_peak_bytes: int | None = None
    directions_s: dict[str, float] = field(default_factory=dict)
    against: Interval | None = None
    code: str = ""
    made: tuple[str, str] = ("", "")
    generated: int | None = None
    skips: int | None = None
    skipped: str = ""
    numerics_words: str = ""
    notes: tuple[str, ...] = ()
    frames: tuple[FrameStart, ...] = ()
    filled: FilledCaches | None = None
    saved: tuple[int, int] | None = None
    killed: bool = False
    took_s: float | None = None
    node: str = ""

    @property
    def first_eager_s(self) -> float | None:
        """Return the seconds of the first eager call."""
        return self.calls[0].eager_s if self.calls else None

    @property
    def first_compiled_s(self) -> float | None:
        """Return the seconds of the first compiled call, compilation included."""
        return self.calls[0].compiled_s if self.calls else None

    @property
    def clear(self) -> bool:
        """Return True if a difference in speed is claimed."""
        return self.claim in ("faster", "slower")

    @property
    def outcome(self) -> str:
        """Return the comparison with eager: `same`, or `same in 1 of 3 calls` if the other calls raised."""
        compared = sum(call.how != "raised" for call in self.calls)
        partial = self.results and compared < len(self.calls)
        return f"{self.results} in {compared} of {count(len(self.calls), 'call')}" if partial else self.results

    @property
    def settled(self) -> bool:
        """Return True if the cell's run ended by itself; such a cell is not repeated."""
        return self.state in SETTLED and not self.killed


def was_killed(status: Status) -> bool:
    """Return True if a run's worker was ended from outside."""
    return status.state == "crashed" and status.signal in KILLED
