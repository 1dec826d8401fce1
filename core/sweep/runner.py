"""SweepRunner, which starts, watches, cancels and resumes sweeps.

A thread executes the cells of a sweep; each device of a node executes one cell at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.base.errors import AccessError, CompileboardError, JobError, StoreError, WorkerError
from core.base.words import agree, count, fresh_id, number
from core.job import MODES, CompileJob
from core.job.prepared import model_code, prepared, torch_version
from core.runs.engine.queues import device_of, is_measured
from core.runs.limits import Limits, check_job, check_storage
from core.runs.people import BusyError, ReachedLimit
from core.runs.permission import allowed
from core.runs.recordings import Recording, recordings
from core.runs.runner import Runner
from core.runs.status import Status
from core.runs.store import MOST_NAME_CHARS, Run
from core.sweep.model import Axis, AxisValue, Sweep, SweepCell, cells
from core.sweep.presets import PRESETS, Question
from core.sweep.store import ROWS, SETTLED, SweepRow, SweepStore, was_killed
from core.sweep.table import SweepStanding, row, rows, runs_of, standing_of

POLL_S = 0.2
# Seconds until the next attempt to submit a run if the visitor's quota is full.
NO_ROOM_S = 5.0
# What a cell waits for is written again if its end has moved by so many seconds.
NEWS_S = 30.0
# Preset fields whose calls have other input sizes, and the stages in which a model rejects such sizes.
OWN_SIZES = re.compile(r"(inputs|calls)\(")
EAGER_FAILED = re.compile(r" while (call \d+: eager|making the inputs)")
SIZES_FAILED = (
    "eager failed at the first sizes: {}. If only the sizes are wrong, give `calls` of sizes that the model takes, or "
    "list them in the file."
)
# A cell whose worker was killed this often is not repeated.
TRIES = 3


class SweepExecutor:
    """Executor of a sweep, in the process that claimed the sweep.

    A cell is repeated if its run was interrupted, but not if its run ended by itself. If `again` is True, failed
    cells are repeated, too. A row is read before the next run starts, so that the reading adds no noise to
    measurements.
    """

    def __init__(self, runner: Runner, store: SweepStore, sweep: Sweep, again: bool = False, poll_s: float = POLL_S):
        self._runner, self._store, self._poll_s = runner, store, poll_s
        self._sweep = replace(sweep, runs=runs_of(sweep), handle=runner.engine.local_handle(), reason="", waits=None)
        self._cells = cells(sweep)
        self._codes = {cell.job.model: model_code(cell.job) for cell in self._cells}
        self._live: dict[int, Run] = {}
        self._tried: Counter[int] = Counter()
        self._not_before = 0.0
        self._unfit: list[str] = []
        self._fits = False
        self._waiting = [cell.index for cell in self._cells if self._is_to_do(cell.index, again)]

    def run(self) -> None:
        """Execute the remaining cells until the end or a stop request.

        Raises StoreError if the sweep cannot be written at the start. Later errors become the sweep's `reason`.
        """
        reason = ""
        self._store.write(self._sweep)
        try:
            while not self._store.is_to_stop(self._sweep.id):
                if not self._waiting and not self._live and not self._grows():
                    break
                self._step()
            reason = self._what_is_left()
        except CompileboardError as error:
            reason = str(error)
        finally:
            self._end(reason)

    def _is_to_do(self, index: int, again: bool) -> bool:
        """Return True if a cell needs a run; if its run is still live, watch that run and return False."""
        run = self._open_run(index)
        if run is None:
            return True
        status = run.standing()
        if status.live:
            self._live[index] = run
            return False
        return not _is_settled(status) or (again and status.state != "done")

    def _open_run(self, index: int) -> Run | None:
        with contextlib.suppress(StoreError):
            return self._runner.store.open(self._sweep.runs[index])
        return None

    def _step(self) -> None:
        self._collect()
        if time.monotonic() >= self._not_before:
            self._submit()
        time.sleep(self._poll_s)

    def _grows(self) -> bool:
        """Add the cells that the preset asks for once all cells have ended; return False without any."""
        preset = PRESETS.get(self._sweep.preset)
        if preset is None or preset.more is None:
            return False
        more = preset.more(Question(self._sweep, rows(self._store, self._sweep)))
        if not more:
            return False
        [axis] = self._sweep.axes
        labels, values = zip(*more, strict=True)
        longer = Axis(axis.field, (*axis.values, *values), (*axis.named(), *labels))
        grown = replace(self._sweep, axes=(longer,))
        self._write(replace(grown, runs=runs_of(grown)))
        self._waiting = list(range(len(self._cells), len(axis.values) + len(values)))
        self._cells = cells(self._sweep)
        return True

    def _submit(self) -> None:
        """Submit waiting cells until one is live per device on each node, or until a limit is reached."""
        busy = Counter(map(self._device, self._live))
        for index in list(self._waiting):
            device = self._device(index)
            if busy[device] >= self._places(device, self._cells[index].job):
                continue
            busy[device] += 1
            if not self._try_submit(self._cells[index]):
                self._not_before = time.monotonic() + NO_ROOM_S
                return

    def _places(self, device: str, job: CompileJob) -> int:
        """Return how many cells run on a device at once: one on each node with the device."""
        return max(1, len(self._runner.engine.nodes(device, self._sweep.id if is_measured(job) else "")))

    def _device(self, index: int) -> str:
        return device_of(self._cells[index].job)

    def _collect(self) -> None:
        """Read the rows of finished runs; an interrupted cell is queued again, a limited number of times."""
        for index, run in list(self._live.items()):
            status = run.standing()
            if status.live:
                continue
            del self._live[index]
            cut = status.state == "interrupted" or was_killed(status)
            if cut and self._tried[index] < TRIES:
                self._waiting.insert(0, index)
                continue
            result = row(self._store, self._store.path(self._sweep.id) / ROWS, self._cells[index].at, run.id)
            self._check_sizes(index, result)

    def _check_sizes(self, index: int, result: SweepRow) -> None:
        """Raise JobError if the model rejects the preset's input sizes even in eager mode.

        If all cells have the same sizes, a single failed cell is enough. If the sizes differ, two failed cells are
        needed, since the first size may be too small. After a cell without this failure, nothing more is checked.
        """
        job = self._cells[index].job
        if not self._sweep.preset or not (job.sizes or any(OWN_SIZES.match(call) for call in job.calls)):
            return
        if result.state == "failed" and EAGER_FAILED.search(result.error):
            self._unfit.append(result.error)
        else:
            self._fits = True
        if not self._fits and len(self._unfit) == (2 if job.sizes else 1):
            raise JobError("calls", SIZES_FAILED.format(self._unfit[-1].splitlines()[0][:200]))

    def _try_submit(self, cell: SweepCell) -> bool:
        """Submit a cell's run; return False if a limit of the visitor is reached for now.

        Raises AccessError if the storage limit is reached, and JobError if the code has changed.
        """

        def created(run: Run) -> None:
            self._check_code(run, cell)
            runs = (*self._sweep.runs[: cell.index], run.id, *self._sweep.runs[cell.index + 1 :])
            self._write(replace(self._sweep, runs=runs, waits=None))
            # After the write: whoever sets the audience now finds this run, or else it is read here.
            if audience := self._store.audience(self._sweep.id):
                self._runner.store.set_audience(run, audience)

        try:
            self._live[cell.index] = self._runner.admit(cell.job, self._sweep.by, created)
        except AccessError as error:
            check_storage(self._runner.limits, self._runner.index, self._sweep.by)
            waits = error.reached if isinstance(error, BusyError) else None
            if _is_another(waits, self._sweep.waits):
                self._write(replace(self._sweep, waits=waits))
            return False
        self._waiting.remove(cell.index)
        self._tried[cell.index] += 1
        return True

    def _write(self, sweep: Sweep) -> None:
        self._store.write(sweep)
        self._sweep = sweep

    def _check_code(self, run: Run, cell: SweepCell) -> None:
        """Raise JobError if a file has changed since the sweep started."""
        path = run.original_path if cell.job.repairs else run.model_path
        if path.read_bytes() != self._codes[cell.job.model].encode():
            raise JobError("model", "the code was changed while the sweep went on; start another one")

    def _what_is_left(self) -> str:
        """Return a message with the number of cells whose runs did not end by themselves.

        Empty if there are no such cells, or if some cells still wait or run.
        """
        if self._waiting or self._live:
            return ""
        runs = [self._open_run(index) for index in range(len(self._cells))]
        cut = sum(run is None or not _is_settled(run.standing()) for run in runs)
        return f"{count(cut, 'cell')} {agree(cut, 'was', 'were')} cut short; resume to make them anew" if cut else ""

    def _end(self, reason: str) -> None:
        """End the live runs, and release the sweep."""
        for run in self._live.values():
            with contextlib.suppress(CompileboardError):
                self._runner.cancel(run)
        for run in self._live.values():
            with contextlib.suppress(CompileboardError):
                self._runner.wait(run)
        with contextlib.suppress(CompileboardError):
            self._store.write(replace(self._sweep, handle="", reason=reason, waits=None))


def _is_another(waits: ReachedLimit | None, before: ReachedLimit | None) -> bool:
    """Return True if a cell waits for another limit than before, or if the limit's end moved by over 30 s."""
    if waits is None or before is None or waits.name != before.name:
        return waits != before
    return abs((waits.until_s or 0.0) - (before.until_s or 0.0)) > NEWS_S


def _is_settled(status: Status) -> bool:
    """Return True if a run has ended by itself."""
    return status.state in SETTLED and not was_killed(status)


def new_sweep(base: CompileJob, axes: tuple[Axis, ...], preset: str = "", title: str = "") -> Sweep:
    """Return a new sweep that has not started; raises JobError that names the faulty axis."""
    subject = f": {preset}" if preset else f" by {', '.join(axis.field for axis in axes)}"
    named = title or base.title() + subject
    sweep = Sweep(fresh_id(named), named[:MOST_NAME_CHARS], replace(base, sweep=""), axes, preset, time.time())
    cells(sweep)
    return sweep


class SweepRunner:
    """A service that starts, cancels and resumes sweeps. Safe to use from several threads.

    All cells are checked against the visitor's permissions when the sweep starts, since they run later, in a
    thread without a visitor. If a server has ended, another server can resume its sweeps. Sweeps of the server's
    owner skip the permission check in this case, but only while `trusted` returns True.
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
        admitted = cells(sweep.whole())
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
        """Request a stop of a sweep and its live runs, also if another process executes them.

        The sweep can be resumed.
        """
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
        code = self._code_of(cells(sweep.whole()), permitted)
        if code != sweep.code:
            raise JobError("model", "the code has changed since this sweep started; start another sweep")
        if torch_version() != sweep.torch:
            raise JobError("sweep", f"measured with torch {sweep.torch}, but torch {torch_version()} is installed")
        with self._lock:
            if self.is_executing(sweep):
                raise WorkerError("the sweep is already running, here or in another process")
            self.store.forget_stop(sweep_id)
            self._begin(sweep, again)
        return sweep

    def _code_of(self, admitted: tuple[SweepCell, ...], permitted: Callable[[CompileJob], CompileJob]) -> str:
        """Check the jobs of all cells, and return a digest of their code.

        Raises JobError that names the faulty cell.
        """
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
            raise AccessError(f"{count(going, 'sweep')} of yours are running, the limit for one visitor")
        if limits.runs is not None and len(mine) >= limits.runs:
            raise AccessError(f"{count(len(mine), 'sweep')} of yours are stored, as many as this server keeps")
        left = None if limits.runs is None else limits.runs - self.runner.index.usage(by).runs
        if left is not None and more > left:
            raise AccessError(f"{count(more, 'cell')} are more than the {number(max(0, left))} runs that you may add")

    def _begin(self, sweep: Sweep, again: bool) -> None:
        """Claim the sweep, and start a thread that executes it and then releases the claim.

        Raises WorkerError if another process has claimed the sweep.
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
        """Return True if this or another server executes the sweep."""
        if sweep.id in self._going:
            return True
        engine = self.runner.engine
        return sweep.handle not in ("", engine.local_handle()) and engine.is_alive(sweep.handle)


# First word of a recording's kind → its preset, and the order of the values.
PRESET_OF: dict[str, tuple[str, Callable[[str], int]]] = {"mode": ("modes", MODES.index), "batch": ("batch", int)}


@dataclass(frozen=True, slots=True)
class RecordedSweep:
    """Recordings of one model along an axis, in the order of its values."""

    title: str
    preset: str
    axis: Axis
    cells: tuple[Recording, ...]


def recorded_sweeps() -> tuple[RecordedSweep, ...]:
    """Return all recorded sweeps of the gallery."""
    groups: dict[tuple[str, str], dict[str, Recording]] = {}
    for recording in recordings():
        field, _, value = recording.kind.partition(" ")
        if field in PRESET_OF:
            groups.setdefault((recording.job.model.value, field), {})[value] = recording
    return tuple(_sweep(model, field, by_value) for (model, field), by_value in groups.items())


def _sweep(model: str, field: str, by_value: dict[str, Recording]) -> RecordedSweep:
    preset, place = PRESET_OF[field]
    values = sorted(by_value, key=place)
    cells = tuple(by_value[value] for value in values)
    typed: tuple[AxisValue, ...] = tuple(map(int, values)) if preset == "batch" else tuple(values)
    return RecordedSweep(f"{model}: {preset}, {cells[0].words}", preset, Axis(field, typed), cells)
