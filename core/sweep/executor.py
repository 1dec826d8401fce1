"""Execution of a sweep's cells, one run at a time per device, from wherever the sweep stopped."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from dataclasses import replace

from core.base.errors import AccessError, CompileboardError, JobError, StoreError
from core.base.words import agree, count
from core.job.prepared import model_code
from core.runs.engine.lanes import device_of
from core.runs.limits import check_storage
from core.runs.runner import Runner
from core.runs.status import Status
from core.runs.store import Run
from core.sweep.model import Sweep, SweepCell, cells
from core.sweep.row import SETTLED, SweepRow, was_killed
from core.sweep.rows import row
from core.sweep.store import ROWS, SweepStore
from core.sweep.table import runs_of

POLL_S = 0.2
# Seconds until the runner is tried again for a visitor without room.
NO_ROOM_S = 5.0
# A preset's calls of other sizes, and the stages at which a model refuses them.
OWN_SIZES = re.compile(r"(inputs|calls)\(")
EAGER_FAILED = re.compile(r" while (call \d+: eager|making the inputs)")
CANNOT_BE_RESIZED = (
    "the model's inputs cannot be resized so: give `calls` of the sizes that it takes, or list them in the file ({})"
)
# A cell whose worker is killed so often is not repeated again.
TRIES = 3


class SweepExecutor:
    """Executor of a sweep that its process has claimed.

    A cell whose run ended by itself is kept, also a failed one unless it is to run `again`; an interrupted run is
    repeated. A row is read before the next run begins, so that our own work does not disturb the measurement.
    """

    def __init__(self, runner: Runner, store: SweepStore, sweep: Sweep, again: bool = False, poll_s: float = POLL_S):
        self._runner, self._store, self._poll_s = runner, store, poll_s
        self._sweep = replace(sweep, runs=runs_of(sweep), handle=runner.engine.local_handle(), reason="")
        self._cells = cells(sweep)
        self._codes = {cell.job.model: model_code(cell.job) for cell in self._cells}
        self._live: dict[int, Run] = {}
        self._tried: Counter[int] = Counter()
        self._not_before = 0.0
        self._unfit: list[str] = []
        self._fits = False
        self._waiting = [cell.index for cell in self._cells if self._is_to_do(cell.index, again)]

    def run(self) -> None:
        """Execute the remaining cells until the end or a stop request; raises no error of ours."""
        reason = ""
        self._store.write(self._sweep)
        try:
            while (self._waiting or self._live) and not self._store.is_to_stop(self._sweep.id):
                self._step()
            reason = self._what_is_left()
        except CompileboardError as error:
            reason = str(error)
        finally:
            self._end(reason)

    def _is_to_do(self, index: int, again: bool) -> bool:
        """Return True if a cell needs a run; a cell with a live run is watched instead."""
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

    def _submit(self) -> None:
        """Submit the next cell for each device that none of our runs uses."""
        busy = {self._device(index) for index in self._live}
        for index in list(self._waiting):
            if (device := self._device(index)) in busy:
                continue
            busy.add(device)
            if not self._try_submit(self._cells[index]):
                self._not_before = time.monotonic() + NO_ROOM_S
                return

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
        """Raise JobError once it is clear that the model rejects inputs of other sizes, in eager, too.

        If the cells differ in size, the first may be too small: then two failures are needed.
        """
        job = self._cells[index].job
        if not self._sweep.preset or not (job.sizes or any(OWN_SIZES.match(call) for call in job.calls)):
            return
        if result.state == "failed" and EAGER_FAILED.search(result.error):
            self._unfit.append(result.error)
        else:
            self._fits = True
        if not self._fits and len(self._unfit) == (2 if job.sizes else 1):
            raise JobError("calls", CANNOT_BE_RESIZED.format(self._unfit[-1].splitlines()[0][:200]))

    def _try_submit(self, cell: SweepCell) -> bool:
        """Return True if a cell's run was submitted, False without room now.

        Raises AccessError if there will be none.
        """

        def created(run: Run) -> None:
            self._check_code(run, cell)
            runs = (*self._sweep.runs[: cell.index], run.id, *self._sweep.runs[cell.index + 1 :])
            self._store.write(replace(self._sweep, runs=runs))
            self._sweep = replace(self._sweep, runs=runs)

        try:
            self._live[cell.index] = self._runner.admit(cell.job, self._sweep.by, created)
        except AccessError:
            check_storage(self._runner.limits, self._runner.store, self._sweep.by)
            return False
        self._waiting.remove(cell.index)
        self._tried[cell.index] += 1
        return True

    def _check_code(self, run: Run, cell: SweepCell) -> None:
        """Raise JobError if a file has changed since the sweep started."""
        path = run.original_path if cell.job.repairs else run.model_path
        if path.read_bytes() != self._codes[cell.job.model].encode():
            raise JobError("model", "the code was changed while the sweep went on; start another one")

    def _what_is_left(self) -> str:
        """Return how many runs were interrupted by others, after the last cell."""
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
            self._store.write(replace(self._sweep, handle="", reason=reason))


def _is_settled(status: Status) -> bool:
    """Return True if a run has ended by itself."""
    return status.state in SETTLED and not was_killed(status)
