"""A profile by torch.profiler of a run's compiled calls, made again after everything that is timed.

Each call is repeated with its own inputs. On a CPU, each generated kernel is marked where the wrapper calls it, since
the profiler records ops alone; the compiled code is as it was. What torch compiles meanwhile stays out of the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from core.base.errors import WorkerError
from core.base.words import duration_s
from core.job import CompileJob
from core.report.profile import NOT_RECORDED, PREPARING
from core.report.records.run import NoteRecord
from core.worker.calls import ModelCalls, PreparedCall
from core.worker.conditions import refused
from core.worker.load import ModelCopy, seed
from core.worker.measuring.kernel_times import error_words
from core.worker.measuring.profiler import KernelMarks, quiet_profile, write_profile
from core.worker.measuring.stopwatches import synchronize
from core.worker.record import emit, unrecorded
from core.worker.streams import silence

REPEATS = 3
MOST_CALLS = 8
# Events of the profile, as estimated from those of the first call.
MOST_EVENTS = 150_000
# Seconds of a profiled call, as a multiple of a plain call.
PROFILED = 4.0


def record_profile(
    job: CompileJob, compiled: ModelCopy, function: Callable[..., Any], path: Path, most_s: float
) -> None:
    """Write a profile of the calls to a file, within some seconds; if that fails, a note has the reason."""
    try:
        with silence(), unrecorded():
            write_profile(_Calls(job, compiled, function).profiled(time.monotonic() + most_s), path)
    except WorkerError as error:
        emit(NoteRecord(text=f"{NOT_RECORDED}{error}"))
    except Exception as error:
        emit(NoteRecord(text=f"{NOT_RECORDED}{error_words(error)}"))


class _Calls:
    """The compiled calls of a run, made again under the profiler."""

    def __init__(self, job: CompileJob, compiled: ModelCopy, function: Callable[..., Any]) -> None:
        self._job, self._compiled, self._function = job, compiled, function
        self._on_cpu = torch.device(job.device).type == "cpu"
        self._activities = [ProfilerActivity.CPU] if self._on_cpu else None

    def profiled(self, end: float) -> profile:
        """Return the profile of the calls, as many as there is room and time for; raises WorkerError."""
        left = self._room(end)
        calls = self._calls()
        with quiet_profile(self._activities) as found, self._marks():
            for index in range(MOST_CALLS):
                with record_function(f"{PREPARING}{index}"):
                    call = calls.next(index)
                if call is None or left <= 0 or time.monotonic() > end:
                    break
                repeats = min(REPEATS, left)
                left -= repeats
                self._repeat(index, call, repeats)
        return found

    def _calls(self) -> ModelCalls:
        return ModelCalls(self._job, self._compiled, self._function, False)

    def _room(self, end: float) -> int:
        """Return how many calls may be profiled, from the time and the events of the first one."""
        call = self._calls().next(0)
        assert call is not None
        start = time.monotonic()
        self._repeat(0, call, 1)
        call_s, left_s = time.monotonic() - start, end - time.monotonic()
        if PROFILED * call_s > left_s:
            raise WorkerError(
                f"one call takes {duration_s(call_s)}, and the run's time limit leaves {duration_s(max(0.0, left_s))}"
            )
        with quiet_profile(self._activities) as first, self._marks():
            self._repeat(0, call, 1)
        return max(1, MOST_EVENTS // max(1, len(first.profiler.kineto_results.events())))

    def _repeat(self, index: int, call: PreparedCall, times: int) -> None:
        """Make a call several times; once if its stance refuses to compile it."""
        primed = self._job.conditions.primed and index == 0
        with call.ready(primed):
            for _ in range(times):
                with record_function(f"{PREPARING}{index}"):
                    seed(self._job.seed + index)
                try:
                    with record_function(f"call {index}"):
                        call()
                        synchronize(self._job.device)
                except RuntimeError as error:
                    if not refused(self._job.conditions, error):
                        raise
                    return

    def _marks(self) -> AbstractContextManager[object]:
        return KernelMarks() if self._on_cpu else nullcontext()
