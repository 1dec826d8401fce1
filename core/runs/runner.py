"""Queue of jobs, with one run directory each. An engine executes them."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from core.analysis.repairs.offers import repaired
from core.base.errors import ClosedError, CompileboardError, JobError, NodeError, SilentNodeError, WorkerError
from core.base.files import remove
from core.job import CompileJob, fingerprint
from core.job.gallery import exercise
from core.job.prepared import prepared, torch_version
from core.runs.engine.following import start_following, stop_following, wait_for_end
from core.runs.engine.opening import open_engine, tried_kinds
from core.runs.engine.queues import Assignment, Engine, Lane, OtherRuns, assigned, device_of
from core.runs.index.database import RunIndex
from core.runs.limits import (
    Limits,
    check_job,
    check_rate,
    check_room,
    check_storage,
    check_tool,
    check_upload,
    read_limits,
)
from core.runs.people import Rate, note_reading
from core.runs.permission import allowed, allowed_request
from core.runs.processes.reading import ReadingTurns, ReadLimits, read_logs_apart
from core.runs.progress import ended_for
from core.runs.recordings import add_recording
from core.runs.status import State
from core.runs.store import Run, Store
from core.runs.stored import add_profile
from core.runs.tools.tasks import Request, create, task_for, tool_run
from core.runs.trials import GONE, POLL_S, Prover, create_trial

TOOLS_AT_ONCE = 2
TRIALS_AT_ONCE = min(2, os.cpu_count() or 1)
TORCH = "torch"
TURN_S = 0.2
END_S = 3.0  # until a trial that was cancelled has ended


@dataclass(frozen=True, slots=True)
class Wait:
    """Reason why a queued run has not started; empty shortly before the start.

    `node_for` is the run's device if no available node has it, and `reason` says why; `starts` then means that torch is
    starting on a node that may have it. `earlier` is the number of runs
    ahead. `starts` is the process that must start first, such as `torch for CUDA`. `is_blocked` is True if another
    server measures on the device. `is_elsewhere` is True if another server has queued the run.
    """

    node_for: str = ""
    reason: str = ""
    earlier: int = 0
    starts: str = ""
    is_blocked: bool = False
    is_elsewhere: bool = False


class Runner:
    """Queue that submits, watches and cancels runs. Safe to use from several threads.

    On each node, at most `parallel` runs execute at once, plus one on each idle accelerator while no run uses the
    CPU. No run that would disturb a measurement starts. If `code_allowed` returns False, only jobs that
    `core.runs.permission` allows are run. The owner's name is empty; limits per visitor in `limits` do not apply
    to the owner. `rate_of` returns the rate of a visitor, which may differ from the rate in `limits`. If `tries` is
    True, trials of fixes start by themselves for some kinds of models.
    """

    def __init__(
        self,
        store: Store,
        engine: Engine | None = None,
        parallel: int = 1,
        code_allowed: Callable[[], bool] = lambda: True,
        limits: Limits | None = None,
        rate_of: Callable[[str, Rate], Rate] = lambda by, rate: rate,
        tries: bool = False,
    ) -> None:
        self.engine: Engine = engine or open_engine(store)
        self.store = store.with_liveness(self.engine)
        self.index = RunIndex(self.store)
        self.limits = limits or Limits()
        self._rate_of = rate_of
        self._turns = ReadingTurns()
        self._admitting = threading.Lock()
        self._code_allowed = code_allowed
        self._lock = threading.RLock()
        nodes = self.engine.nodes
        self._jobs, self._tools, self._trials = self._lanes = (
            Lane(parallel, nodes), Lane(TOOLS_AT_ONCE, nodes), Lane(TRIALS_AT_ONCE, nodes)
        )  # fmt: skip
        self._others = OtherRuns(self.store)
        kinds = tried_kinds() if tries else ()
        self.prover = Prover(self._try_job, self.admit, self._is_idle, kinds, TRIALS_AT_ONCE)
        self._unwanted: set[str] = set()
        self._cancelled: set[str] = set()
        self._blocked: set[str] = set()
        self.engine.on_change(self._advance_in_background)

    def submit(self, job: CompileJob, by: str = "") -> Run:
        """Queue a visitor's job; it is not part of a sweep, even if it was copied from one.

        Raises JobError for an invalid job, AccessError if there is no room for it, StoreError if the disk is full.
        """
        return self.admit(self.permitted(replace(job, sweep="")), by)

    def admit(self, job: CompileJob, by: str = "", created: Callable[[Run], object] = lambda run: None) -> Run:
        """Queue an already permitted job, such as a sweep's cell; raises the same errors as `submit`.

        `created` is called with the run before it is queued; if that raises a CompileboardError, the run is not queued.
        """
        job, written = prepared(job)
        code = repaired(written, job.repairs)
        original = exercise(job.exercise).code if job.exercise else written
        check_job(self.limits, job)
        if refusal := self.engine.refusal(device_of(job)):
            raise JobError("device", refusal)
        with self._admitting:
            self._check_rate(by)
            check_room(self.limits, self.index, by)
            run = self.store.create(job, fingerprint(job, written, torch_version()), code, by, original)
        try:
            created(run)
        except CompileboardError as error:
            run.write_status(replace(run.status(), state="cancelled", reason=str(error), handle=""))
            raise
        self._enqueue(self._jobs, assigned(run, job, by))
        return run

    def expect_log(self, size: int, by: str = "") -> None:
        """Raise AccessError if a visitor may not add a log of `size` bytes."""
        check_upload(self.limits, size)
        check_storage(self.limits, self.index, by, size)

    def add_log(self, name: str, source: BinaryIO, by: str = "") -> Run:
        """Store a visitor's imported log or archive of logs.

        Raises StoreError if it is not a trace, TraceError if the archive cannot be used, AccessError if there is no
        room.
        """
        check_storage(self.limits, self.index, by)
        with self._reading(by) as limits:
            return self.store.add_log(name, source, by, limits.unpacked_bytes, read_logs_apart(limits))

    def add_path(self, path: Path, by: str = "") -> Run:
        """Store a visitor's log, directory of logs or archive; raises AccessError and as `Store.add_path`."""
        check_storage(self.limits, self.index, by)
        return self.store.add_path(path, by)

    def add_profile(self, run: Run, source: BinaryIO, by: str = "") -> Run:
        """Store a visitor's profile beside a run's log; raises StoreError, AccessError."""
        check_storage(self.limits, self.index, by)
        with self._reading(by) as limits:
            add_profile(run, source, limits)
        return run

    @contextmanager
    def _reading(self, by: str) -> Iterator[ReadLimits]:
        """Yield the limits to read a visitor's file, in its turn of the visitor's hour."""
        with self._turns.turn(by):
            check_rate(replace(self._rate_of(by, self.limits.rate), runs=None), self.index, by)
            began_s = time.time()
            try:
                yield read_limits(self.limits)
            finally:
                note_reading(self.store.home, by, began_s)

    def follow_path(self, path: Path, by: str = "") -> Run:
        """Follow logs that another process writes, until the run is cancelled; raises AccessError, StoreError."""
        check_room(self.limits, self.index, by)
        run, process = start_following(self.store, path, by)
        # The thread holds the process, whose input is closed when this server ends.
        threading.Thread(target=wait_for_end, args=(run, process), daemon=True).start()
        return run

    def add_recording(self, name: str, by: str = "") -> Run:
        """Add a recording as a visitor's run; raises StoreError, AccessError if there is no room for it."""
        check_storage(self.limits, self.index, by)
        return add_recording(self.store, name, by)

    def start_tool(self, run: Run, request: Request, by: str = "") -> Run:
        """Start a kernel tool on a run, unless this request was made before; raises ToolError, AccessError."""
        if not self._code_allowed():
            request = allowed_request(run, request)
        tool = tool_run(run, request)
        if tool.path.exists():
            return tool
        self._check_rate(by)
        check_tool(self.limits, self.index, by)
        # Outside the lock, since reading the report may take long.
        task = task_for(run, request)
        with self._admitting:
            check_tool(self.limits, self.index, by)
            created = create(run, task, by)
        if created:
            self.index.update([run.path.name])
            self._enqueue(self._tools, Assignment(tool, by=by))
        return tool

    def _check_rate(self, by: str) -> None:
        check_rate(self._rate_of(by, self.limits.rate), self.index, by)

    def _enqueue(self, lane: Lane, assignment: Assignment) -> None:
        with self._lock:
            lane.add(assignment)
        if lane is not self._trials:
            self._end_trials()
        self._advance_in_background()

    def try_fixes(self, run: Run, together: bool = False) -> None:
        """Queue the trials of a run's untried fixes, or all `together` to confirm; raises JobError."""
        job = run.job()
        if job is None:
            raise JobError("model", "the log has no job to run")
        self.permitted(job)
        (self.prover.apply_all if together else self.prover.request)(run)

    def stop_trials(self, run: Run) -> None:
        """Stop the trials of a run's fixes, and wait until none executes; results of earlier ones stay."""
        self.prover.stop(run)
        self._end_trials(run)
        deadline = time.monotonic() + END_S
        while self._trials_of(run) and time.monotonic() < deadline:
            time.sleep(TURN_S / 4)

    def _try_job(self, run: Run, job: CompileJob, limit_s: float) -> Run | None:
        """Run a trial for a run, in its directory, and return it at its end; None if a submission ended it.

        It has an ordinary run's limits, but no quota and no device lock. Raises JobError, StoreError.
        """
        fitted, by = self.limits.fitted(replace(job, time_limit_s=min(job.time_limit_s, limit_s))), run.status().by
        trial = create_trial(self.store, run, fitted, by)
        self._enqueue(self._trials, assigned(trial, fitted, by))
        while trial.status().live:
            if not self._is_idle():
                self._end_trials()
            time.sleep(POLL_S / 2)
        if trial.status().state not in GONE:
            return trial
        remove(trial.path)
        return None

    def _is_free(self, assignment: Assignment) -> bool:
        """Return True if no other server measures on a trial's device; the lock is released at once."""
        trial = assignment.run
        of = replace(assignment, run=Run(trial.path.name, trial.path.parents[2] / trial.path.name, trial.liveness))
        try:
            return self.engine.take_turn(of)
        finally:
            self.engine.end_turn(of.run)

    def _is_idle(self) -> bool:
        """Return True if no run and no tool is queued or executes, in any process with this home."""
        with self._lock:
            if any(lane.going or any(lane.queue) for lane in (self._jobs, self._tools)):
                return False
        return not self._others.are_live()

    def _end_trials(self, of: Run | None = None) -> None:
        """End the trial that is queued or executes, if it is one of a run; by default any trial."""
        for trial in self._trials_of(of):
            with contextlib.suppress(CompileboardError):
                self.cancel(trial)

    def _trials_of(self, run: Run | None = None) -> list[Run]:
        """Return the trials of a run that are queued or execute; by default those of all runs."""
        with self._lock:
            trials = [assignment.run for assignment in (*self._trials.going.values(), *self._trials.queue)]
        return [trial for trial in trials if run is None or run.path in trial.path.parents]

    def stored(self, job: CompileJob) -> Run | None:
        """Return a finished run of the same job, code and torch; None if there is none."""
        return self.index.find(self.fingerprint(job))

    def fingerprint(self, job: CompileJob, is_permitted: bool = False) -> str:
        """Return the fingerprint in the status of runs of the same job, code and torch; raises JobError."""
        job, code = prepared(job if is_permitted else self.permitted(job))
        return fingerprint(job, code, torch_version())

    def permitted(self, job: CompileJob) -> CompileJob:
        """Return the job if this server may run it for a visitor; raises JobError."""
        return job if self._code_allowed() else allowed(job)

    def cancel(self, run: Run) -> None:
        """Remove a run from the queue, or end it.

        A run that waits for torch to start is cancelled at once. For a followed log, following ends. Raises WorkerError
        if another server has queued the run.
        """
        status = run.status()
        if status.kind == "log":
            stop_following(run)
            return
        with self._lock:
            state = run.status().state
            started = any(run.id in lane.started for lane in self._lanes) or (
                state == "running" and self._starting(run) is not None
            )
            if started:
                self._cancelled.add(run.id)
            elif state == "queued" and self._withdraw(run):
                run.write_status(
                    replace(run.status(), state="cancelled", reason="cancelled before it started", handle="")
                )
                return
        if started or state == "running":
            self.engine.cancel(run)
        elif state == "queued":
            raise WorkerError("the run waits in the queue of another server; cancel it there")

    def wait(self, run: Run, poll_s: float = 0.05) -> Run:
        """Block until a run has ended, and return it."""
        while run.status().live:
            time.sleep(poll_s)
        return run

    def position(self, run: Run) -> int | None:
        """Return the number of runs ahead of a queued run; None if the run is not queued here."""
        with self._lock:
            waiting = [assignment.run for assignment in self._jobs.queue]
            return waiting.index(run) + len(self._jobs.going) if run in waiting else None

    def waits_for(self, run: Run) -> Wait:
        """Return what a queued run waits for."""
        with self._lock:
            waiting, starting = self._jobs.waiting(run), self._starting(run)
            is_known = any(run.id in lane.going for lane in self._lanes)
        if waiting is not None and not self.engine.nodes(waiting.device, waiting.alike):
            return self._wait_for_node(waiting)
        if waiting is not None:
            return Wait(earlier=self.position(run) or 0)
        if starting is not None:
            return Wait(starts=self.engine.lacks(starting), is_blocked=self.is_blocked(run))
        return Wait(is_elsewhere=not is_known)

    def stalled(self) -> Wait | None:
        """Return what the first queued or starting run waits for; None if a run executes, or none is queued."""
        with self._lock:
            starting = (self._jobs.starting(assignment.run) for assignment in self._jobs.going.values())
            first = next(filter(None, starting), None) or next(iter(self._jobs.queue), None)
            if first is None or self._jobs.started:
                return None
        return self.waits_for(first.run)

    def _wait_for_node(self, waiting: Assignment) -> Wait:
        shortage = self.engine.shortage(waiting.device)
        return (
            Wait(waiting.device, shortage.reason, starts=TORCH if shortage.is_starting else "") if shortage else Wait()
        )

    def is_blocked(self, run: Run) -> bool:
        """Return True if a run waits for another process's measurement on its device."""
        return run.id in self._blocked

    def _advance_in_background(self) -> None:
        threading.Thread(target=self._advance, daemon=True).start()

    def _advance(self) -> None:
        """Start all runs that may start, without the lock, since the first start of torch may take minutes."""
        while (startable := self._take_next()) is not None:
            self._start(*startable)

    def _take_next(self) -> tuple[Lane, Assignment] | None:
        """Move the next assignment that may start to the running ones; return it with its lane, or None."""
        with self._lock:
            for lane in self._lanes:
                if (assignment := lane.take()) is not None:
                    return lane, assignment
        return None

    def _start(self, lane: Lane, assignment: Assignment) -> None:
        run = assignment.run
        try:
            self.engine.prepare(assignment)
            if lane is self._jobs:
                self._wait_for_turn(assignment)
            elif lane is self._trials and not self._is_free(assignment):
                self.cancel(run)
            if not self._is_unwanted(run):
                self.engine.start(assignment, lambda: self._finish(run))
                self._mark_started(lane, run)
        except SilentNodeError:
            self._put_back(lane, assignment)
        except CompileboardError as error:
            if not self._is_unwanted(run):
                ended_by = error.signal if isinstance(error, WorkerError) else None
                state: State = "interrupted" if isinstance(error, NodeError | ClosedError) else "crashed"
                run.write_status(replace(run.status(), state=state, reason=str(error), signal=ended_by, handle=""))
            with self._lock:
                self._forget(run)
        finally:
            with self._lock:
                self._unwanted.discard(run.id)

    def _put_back(self, lane: Lane, assignment: Assignment) -> None:
        """Queue an assignment again whose node stopped answering before the start, unless it was cancelled."""
        with self._lock:
            if assignment.run.id in lane.going:
                self._forget(assignment.run)
                lane.queue.put_back(replace(assignment, node=""))

    def _wait_for_turn(self, assignment: Assignment) -> None:
        """Wait until no other process measures on the assignment's device, or its run is cancelled."""
        while not self._is_unwanted(assignment.run):
            has_turn = self.engine.take_turn(assignment)
            with self._lock:
                if assignment.run.id not in self._jobs.going:
                    self.engine.end_turn(assignment.run)
                    return
                if has_turn:
                    self._blocked.discard(assignment.run.id)
                    return
                self._blocked.add(assignment.run.id)
            time.sleep(TURN_S)

    def _mark_started(self, lane: Lane, run: Run) -> None:
        """Mark a run as started, unless it has already ended; end it if it was cancelled meanwhile."""
        with self._lock:
            if run.id in lane.going:
                lane.started.add(run.id)
        if self._is_unwanted(run):
            self.engine.cancel(run)

    def _is_unwanted(self, run: Run) -> bool:
        """Return True if a run was cancelled during its start."""
        with self._lock:
            return run.id in self._unwanted

    def _withdraw(self, run: Run) -> bool:
        """Cancel a run of this server that was not started yet, and free its place; False for any other."""
        if any(lane.remove(run) for lane in self._lanes):
            return True
        if self._starting(run) is None:
            return False
        self._unwanted.add(run.id)
        self._forget(run)
        self._advance_in_background()
        return True

    def _starting(self, run: Run) -> Assignment | None:
        return next((assignment for lane in self._lanes if (assignment := lane.starting(run))), None)

    def _forget(self, run: Run) -> None:
        for lane in self._lanes:
            lane.forget(run)
        self.engine.end_turn(run)
        self._blocked.discard(run.id)

    def _finish(self, run: Run) -> None:
        with self._lock:
            self._forget(run)
            self._unwanted.discard(run.id)
        self._close_status(run)
        with self._lock:
            self._cancelled.discard(run.id)
        self._advance()
        if run.path.parent == self.store.runs_dir:
            self.prover.ended(run)

    def _close_status(self, run: Run) -> None:
        """Write the final status of a run whose supervisor was killed before it could."""
        with contextlib.suppress(CompileboardError):
            status = run.written_status()
            if status.live:
                run.write_status(ended_for(run, status, run.id in self._cancelled))
