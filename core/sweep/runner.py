"""SweepRunner: start, watch, cancel and resume sweeps, each executed by a thread."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from core.base.errors import AccessError, CompileboardError, JobError, WorkerError
from core.base.run_id import fresh_id
from core.base.words import count, number
from core.job import CompileJob
from core.job.prepared import prepared, torch_version
from core.runs.limits import Limits, check_job, usage
from core.runs.permission import allowed
from core.runs.runner import Runner
from core.runs.store import MOST_NAME_CHARS
from core.sweep.executor import POLL_S, SweepExecutor
from core.sweep.model import Axis, Sweep, SweepCell, cells
from core.sweep.recorded import RecordedSweep
from core.sweep.row import SweepRow
from core.sweep.rows import rows
from core.sweep.standing import SweepStanding, standing_of
from core.sweep.store import SweepStore


def new_sweep(base: CompileJob, axes: tuple[Axis, ...], preset: str = "", title: str = "") -> Sweep:
    """Return a new sweep that has not started; raises JobError that names the faulty axis."""
    subject = f": {preset}" if preset else f" by {', '.join(axis.field for axis in axes)}"
    named = title or base.title() + subject
    sweep = Sweep(fresh_id(named), named[:MOST_NAME_CHARS], replace(base, sweep=""), axes, preset, time.time())
    cells(sweep)
    return sweep


class SweepRunner:
    """Sweeps over a runner. Safe to use from several threads.

    A sweep is admitted when a visitor starts it; its cells run much later, in a thread without a visitor. Another
    server resumes an abandoned sweep only while `trusted` allows the owner's code to run here.
    """

    def __init__(self, runner: Runner, trusted: Callable[[], bool] = lambda: True, poll_s: float = POLL_S) -> None:
        self.runner = runner
        self.store = SweepStore(runner.store)
        self._trusted = trusted
        self._poll_s = poll_s
        self._lock = threading.Lock()
        self._over = threading.Condition(self._lock)
        self._going: set[str] = set()

    def start(self, sweep: Sweep, by: str = "") -> Sweep:
        """Store a visitor's sweep and execute it; raises JobError, AccessError, StoreError."""
        admitted = cells(sweep)
        code = self._code_of(admitted, self.runner.permitted)
        with self._lock:
            self._check_room(len(admitted), by)
            stored = self.store.create(replace(sweep, by=by, code=code, torch=torch_version()))
            self._begin(stored, again=False)
        return stored

    def add_recorded(self, recorded: RecordedSweep, by: str = "") -> Sweep:
        """Add a recorded sweep to a visitor's sweeps, all cells done; raises AccessError, StoreError."""
        fresh = new_sweep(recorded.cells[0].job, (recorded.axis,), recorded.preset, recorded.title)
        with self._lock:
            self._check_room(len(recorded.cells), by)
            runs = tuple(self.runner.add_recording(recording.name, by).id for recording in recorded.cells)
            return self.store.create(replace(fresh, by=by, runs=runs))

    def resume(self, sweep_id: str, again: bool = False) -> Sweep:
        """Resume a sweep; failed cells run again if `again` is True.

        Raises WorkerError if a process executes it already, JobError if its code or torch has changed.
        """
        return self._resume(sweep_id, again, self.runner.permitted)

    def resume_interrupted(self) -> tuple[str, ...]:
        """Resume the sweeps whose process has ended; returns their ids."""
        resumed = []
        for sweep in self.store.list():
            if not sweep.handle or self.is_executing(sweep) or self.store.is_to_stop(sweep.id):
                continue
            with contextlib.suppress(CompileboardError):
                owned = sweep.by == "" and self._trusted()
                self._resume(sweep.id, False, (lambda job: job) if owned else allowed)
                resumed.append(sweep.id)
        return tuple(resumed)

    def cancel(self, sweep_id: str) -> None:
        """Stop a sweep, whichever process executes it, and end its current run. It can be resumed."""
        self.store.request_stop(sweep_id)

    def wait(self, sweep_id: str, seconds: float | None = None) -> None:
        """Block until this process no longer executes a sweep, at most for `seconds`."""
        with self._over:
            self._over.wait_for(lambda: sweep_id not in self._going, seconds)

    def rows(self, sweep: Sweep) -> tuple[SweepRow, ...]:
        """Return the current table; raises StoreError if the sweep is gone."""
        return rows(self.store, sweep)

    def standing(self, sweep: Sweep, table: tuple[SweepRow, ...] | None = None) -> SweepStanding:
        """Return a sweep's state and progress, from the rows of its table."""
        current = self.rows(sweep) if table is None else table
        return standing_of(current, self.is_executing(sweep), self.store.is_to_stop(sweep.id), sweep.reason)

    def close(self) -> None:
        """Cancel the sweeps of this process, and wait for their end."""
        for sweep_id in list(self._going):
            with contextlib.suppress(CompileboardError):
                self.cancel(sweep_id)
            self.wait(sweep_id)

    def _resume(self, sweep_id: str, again: bool, permitted: Callable[[CompileJob], CompileJob]) -> Sweep:
        sweep = self.store.open(sweep_id)
        code = self._code_of(cells(sweep), permitted)
        if code != sweep.code:
            raise JobError("model", "the code is no longer what this sweep has measured; start another one")
        if torch_version() != sweep.torch:
            raise JobError("sweep", f"it was measured with torch {sweep.torch}, and here is {torch_version()}")
        with self._lock:
            if self.is_executing(sweep):
                raise WorkerError("the sweep is gone through already, here or by another process")
            self.store.forget_stop(sweep_id)
            self._begin(sweep, again)
        return sweep

    def _code_of(self, admitted: tuple[SweepCell, ...], permitted: Callable[[CompileJob], CompileJob]) -> str:
        """Return a digest of the cells' code after admitting each; raises JobError that names the faulty cell."""
        codes: dict[str, None] = {}
        for cell in admitted:
            try:
                job, code = prepared(permitted(cell.job))
                check_job(self.runner.limits, job)
            except JobError as error:
                raise JobError(f"cell {cell.title}", str(error)) from None
            codes[code] = None
            codes |= dict.fromkeys(filter(None, [job.compile.backend_code]))
        return hashlib.sha256("\0".join(codes).encode("utf-8", "replace")).hexdigest()[:16]

    def _check_room(self, more: int, by: str) -> None:
        limits = self.runner.limits
        if limits == Limits() or not by:
            return
        mine = [sweep for sweep in self.store.list() if sweep.by == by]
        going = sum(map(self.is_executing, mine))
        if limits.live_runs is not None and going >= limits.live_runs:
            raise AccessError(f"{count(going, 'sweep')} of yours go, as many as this server gives to one visitor")
        if limits.runs is not None and len(mine) >= limits.runs:
            raise AccessError(f"{count(len(mine), 'sweep')} of yours are stored, as many as this server keeps")
        left = None if limits.runs is None else limits.runs - usage(self.runner.store, by).runs
        if left is not None and more > left:
            raise AccessError(f"{count(more, 'cell')} are more than the {number(max(0, left))} runs that you may add")

    def _begin(self, sweep: Sweep, again: bool) -> None:
        """Claim the sweep, and execute it in a thread that releases it.

        Raises WorkerError if another process has it.
        """
        claim = contextlib.ExitStack()
        claim.enter_context(self.store.claimed(sweep.id))
        self._going.add(sweep.id)
        threading.Thread(target=self._go, args=(sweep, again, claim), daemon=True).start()

    def _go(self, sweep: Sweep, again: bool, claim: contextlib.ExitStack) -> None:
        try:
            with claim, contextlib.suppress(CompileboardError):
                SweepExecutor(self.runner, self.store, self.store.open(sweep.id), again, self._poll_s).run()
        finally:
            with self._over:
                self._going.discard(sweep.id)
                self._over.notify_all()

    def is_executing(self, sweep: Sweep) -> bool:
        """Return True if a server executes the sweep, this one or another."""
        if sweep.id in self._going:
            return True
        engine = self.runner.engine
        return sweep.handle not in ("", engine.local_handle()) and engine.is_alive(sweep.handle)
