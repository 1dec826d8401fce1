"""Profiles of a run's calls by torch.profiler, with marks of kernels and without Kineto's messages.

The profile is made after all timings. Each call is repeated with its own inputs. On a CPU, the profiler
itself records only ops, so each generated kernel is marked where the wrapper calls it. The kernels are
unchanged. Compilations during the profile are not in the log.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from core.base.errors import WorkerError
from core.base.files import writing
from core.base.words import bytes_, duration_s
from core.code.output_code import is_extern_kernel
from core.job import CompileJob
from core.report.records.compilation import NoteRecord
from core.report.run import NOT_RECORDED, PREPARING
from core.worker.calls import ModelCalls, PreparedCall
from core.worker.conditions import refused
from core.worker.environment import synchronize
from core.worker.load import ModelCopy, seed
from core.worker.measuring.instruments import wrappers
from core.worker.measuring.kernel_times import error_words
from core.worker.record import emit, silence, unrecorded

LOG_LEVEL, NOTHING = "KINETO_LOG_LEVEL", "99"
MOST_FILE_BYTES = 256 * 1024**2  #: limit: a run's own profile before compression


@contextmanager
def quiet_profile(activities: Collection[ProfilerActivity] | None, **options: Any) -> Iterator[profile]:
    """Profile the given activities in this context; None means all activities that torch supports."""
    os.environ.setdefault(LOG_LEVEL, NOTHING)
    with profile(activities=activities, **options) as found:
        yield found


class KernelMarks:
    """Slices with the names of generated kernels, where the wrapper calls them.

    On a CPU, the profiler itself records only ops.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._marked: set[ModuleType] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> KernelMarks:
        """Mark the kernels of all output codes that are loaded."""
        self.add()
        return self

    def __exit__(self, *_: object) -> None:
        """Replace the marked output codes by the original ones."""
        with self._lock:
            self._stack.close()

    def add(self) -> None:
        """Mark the kernels of output codes that are new since the last call; the first call marks all."""
        with self._lock:
            for code in wrappers(self._marked):
                self._stack.enter_context(code.tapped(_marked, _straight))
                self._marked.add(code.module)


def _straight(body: Callable[..., Any], *args: Any) -> Any:
    return body(*args)


def _marked(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a kernel; a generated one gets a slice with its name, a library call has its op's."""
    if is_extern_kernel(name):
        return function(*args, **kwargs)
    with record_function(name):
        return function(*args, **kwargs)


def write_profile(recorded: profile, path: Path) -> None:
    """Write a profile, compressed; raises WorkerError if it is too large."""
    with tempfile.TemporaryDirectory(prefix=".profile-", dir=path.parent) as name:
        plain = Path(name) / "profile.json"
        recorded.export_chrome_trace(str(plain))
        if (size := plain.stat().st_size) > MOST_FILE_BYTES:
            raise WorkerError(f"it has {bytes_(size)}, more than {bytes_(MOST_FILE_BYTES)}")
        with writing(path) as file, gzip.open(file, "wb", compresslevel=6) as packed, plain.open("rb") as source:
            shutil.copyfileobj(source, packed, 1 << 20)


REPEATS = 3
MOST_CALLS = 8  #: limit: calls in a run's own profile
# Events of the profile, as estimated from those of the first call.
MOST_EVENTS = 150_000  #: limit: events of a run's own profile, estimated from its first call
# Seconds of a profiled call, as a multiple of a plain call.
PROFILED = 4.0


def record_profile(
    job: CompileJob, compiled: ModelCopy, function: Callable[..., Any], path: Path, most_s: float
) -> None:
    """Profile the calls into a file within `most_s` seconds; record a note if that fails."""
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
        """Return the profile of as many calls as the limits allow; raises WorkerError if there is no time."""
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
        """Return the number of calls to profile, by the first call's events; raises WorkerError for none."""
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
