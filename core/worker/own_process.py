"""Log and profile of the user's own process, outside the worker.

Torch's structured trace goes to every handler of one logger. A log is an additional handler: TORCH_TRACE
still gets all records. Apart from a hook for labels and the recorder of cache keys, torch is unchanged: caches,
passes and settings stay as they are.
"""

import hashlib
import logging
import os
import platform
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.convert_frame as convert_frame
import torch._dynamo.utils as dynamo_utils
import torch._logging._internal as torch_logging
import torch.autograd.profiler as autograd_profiler
from torch._dynamo.eval_frame import _debug_get_cache_entry_list as cache_entries
from torch._guards import CompileContext
from torch._logging.structured import INTERN_TABLE
from torch.profiler import ProfilerActivity, profile, record_function, supported_activities

from core.base.errors import CompileboardError
from core.report import Place, Setting
from core.report.records import Record
from core.report.records.compilation import EndRecord, NoteRecord
from core.worker.caches import CACHE_KEYS
from core.worker.measuring.profiler import KernelMarks, quiet_profile, write_profile
from core.worker.record import NAMES, as_json_lines
from core.worker.recorders.stacks import Sources

MOST_BYTES = 4 * 1024**3  #: limit: the log of a recorded process of yours
INSTALLED = {"site-packages", "dist-packages"}
# Last records of a compilation, after its output code was loaded.
COMPILED = {"compilation_metrics", "bwd_compilation_metrics"}
TOO_LARGE = "the log has reached 4 GiB"


class ProcessLog(logging.Handler):
    """A log file of all compilations of this process, in every thread.

    A forked process does not write to the log. An error ends the log, never the compilation. `problem` is the
    error, or empty.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        super().__init__()
        self.setFormatter(torch_logging.TorchLogsFormatter(trace=True))
        self.problem = ""
        self.label: Callable[[], str] | None = None
        # Called after each compilation.
        self.compiled: Callable[[], object] = bool
        self.path = path
        self._file = path.open("xb", buffering=0)
        self._left_bytes = most_bytes
        self._pid = os.getpid()
        # Numbers of the files of compiled frames, in the order in which they were compiled.
        self._frames: dict[int, None] = {}

    @property
    def is_forked(self) -> bool:
        """True in a process that was forked while this log was written."""
        return os.getpid() != self._pid

    @property
    def has_compilations(self) -> bool:
        """True once a frame was compiled."""
        return bool(self._frames)

    def begin(self, run: str, label: Callable[[], str]) -> None:
        """Begin the log with the setting and the file names that torch has logged before.

        Torch calls `label` at each recompile.
        """
        self._write_setting(run)
        for name, number in list(INTERN_TABLE.items()):
            self._log({"str": (name, number)})
        # In front of torch's handler: without TORCH_TRACE, that one removes itself at the first record, and the next is
        # skipped.
        torch_logging.trace_log.handlers.insert(0, self)
        self.label = label
        dynamo_utils.register_hook_for_recompile_user_context(label)
        CACHE_KEYS.begin(self.write)

    def detach(self) -> None:
        """Stop recording; compiled code stays in use."""
        CACHE_KEYS.end(self.write)
        torch_logging.trace_log.removeHandler(self)
        hooks = dynamo_utils.get_hook_for_recompile_user_context()
        if hooks and self.label in hooks:
            hooks.remove(self.label)
        if hooks == []:
            dynamo_utils.reset_recompile_user_contexts()

    def end(self, outcome: str) -> None:
        """Write the source files named in torch's stacks, then the last record, and close the file.

        Files of compiled frames come first. Other files of installed packages are not written.
        """
        sources, names = Sources(self.write), {number: name for name, number in list(INTERN_TABLE.items())}
        frames = [names[number] for number in self._frames if number in names]
        for path in {*names.values()}.difference(frames):
            if INSTALLED.intersection(Path(path).parts):
                sources.already(path)
        sources.name(frames)
        sources.record()
        self.write(EndRecord(outcome=outcome))
        self.close()

    def write(self, record: Record) -> None:
        """Write one of Compileboard's own records to this log only, with the current compile id."""
        head = {"artifact": {"name": NAMES[type(record)], "encoding": "json"}, **_compile_context()}
        self._log(head, as_json_lines(record))

    def note(self, text: str) -> None:
        """Write a note, which *Overview* shows."""
        self.write(NoteRecord(text=text))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of torch's trace."""
        if self.problem or self.is_forked:
            return
        try:
            data = f"{self.format(record)}\n".encode(errors="backslashreplace")
            self._left_bytes -= len(data)
            if self._left_bytes < 0:
                self.problem = TOO_LARGE
            else:
                self._file.write(data)
            if stack := (record.metadata.get("dynamo_start") or {}).get("stack"):  # type: ignore[attr-defined]
                self._frames[stack[-1]["filename"]] = None
            if COMPILED.intersection(record.metadata):  # type: ignore[attr-defined]
                self.compiled()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _write_setting(self, run: str) -> None:
        setting = Setting(
            run=run,
            torch=torch.__version__,
            python=platform.python_version(),
            threads=torch.get_num_threads(),
            cpus=os.cpu_count(),
        )
        self.write(setting)

    def _log(self, metadata: dict[str, Any], payload: str | None = None) -> None:
        if payload is not None:
            metadata["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        extra = {"metadata": metadata, "payload": payload}
        log = torch_logging.trace_log
        self.handle(log.makeRecord(log.name, logging.DEBUG, __file__, 0, "", (), None, extra=extra))


def _compile_context() -> dict[str, Any]:
    """Return the current compilation as torch's records name it; empty outside a compilation."""
    context = CompileContext.try_get()
    if context is None or context.compile_id is None:
        return {}
    compile_id = context.compile_id
    names = ("frame_id", "frame_compile_id", "compiled_autograd_id")
    ids = {name: value for name in names if (value := getattr(compile_id, name, None)) is not None}
    return {**ids, "attempt": context.attempt}


def compiled_before() -> tuple[Place, ...]:
    """Return the functions that have compiled code now, each at its first line."""
    codes = filter(None, (reference() for reference in list(convert_frame.input_codes.seen)))
    return tuple(Place(code.co_filename, code.co_firstlineno) for code in codes if cache_entries(code))


def process_words() -> str:
    """Return the process id and the name of the machine as text."""
    return f"process {os.getpid()} on {platform.node()}"


def rank() -> int | None:
    """Return this process's rank; None if torch.distributed is not initialized."""
    distributed: Any = sys.modules.get("torch.distributed")
    is_ready = distributed is not None and distributed.is_available() and distributed.is_initialized()
    return int(distributed.get_rank()) if is_ready else None


def compiled(model: Callable[..., Any]) -> Callable[..., Any]:
    """Return the callable compiled by `torch.compile` with default arguments."""
    result: Callable[..., Any] = torch.compile(model)
    return result


def reset() -> None:
    """Forget all compiled code of this process, as `torch.compiler.reset` does."""
    torch.compiler.reset()


# The first slice of a profile: one that another profiler has taken over lacks it.
BEGIN = "record(profile=True)"
ADD = "torch has one at a time; `python -m core profile` adds its file"
RUNNING = f"a torch.profiler was running already, and {ADD}"
ENDED = f"another torch.profiler was started meanwhile, and {ADD}"


class OwnProfile:
    """A profile from the object's creation to `write`.

    An error of the profiler is stored in `problem` and never reaches the user's code. Without an accelerator,
    `add_kernels` adds the slices of generated kernels.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._stack = ExitStack()
        self._marks: KernelMarks | None = None
        self._profile: profile | None = None
        if autograd_profiler._is_profiler_enabled:
            self.problem = RUNNING
            return
        try:
            self._profile = self._stack.enter_context(quiet_profile(None))
            with record_function(BEGIN):
                pass
            if supported_activities() == {ProfilerActivity.CPU}:
                self._marks = self._stack.enter_context(KernelMarks())
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def add_kernels(self) -> None:
        """Mark the kernels that were compiled since the last call."""
        try:
            if self._marks is not None:
                self._marks.add()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def write(self, path: Path) -> None:
        """End the profile and write its file, unless there is a problem."""
        try:
            self._stack.close()
            if self._profile is None or self.problem:
                return
            if any(event.name() == BEGIN for event in self._profile.profiler.kineto_results.events()):
                write_profile(self._profile, path)
            else:
                self.problem = ENDED
        except CompileboardError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"
