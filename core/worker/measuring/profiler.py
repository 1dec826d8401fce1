"""torch.profiler without the lines that Kineto writes to standard error, with marks of kernels, and as a file."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from torch.profiler import ProfilerActivity, profile, record_function

from core.base.errors import WorkerError
from core.base.files import writing
from core.base.words import bytes_
from core.code.output_code import is_extern_kernel
from core.worker.measuring.wrappers import wrappers

LOG_LEVEL, NOTHING = "KINETO_LOG_LEVEL", "99"
MOST_FILE_BYTES = 256 * 1024**2


@contextmanager
def quiet_profile(activities: Collection[ProfilerActivity] | None, **options: Any) -> Iterator[profile]:
    """Profile some activities in this context, or all that torch has here."""
    os.environ.setdefault(LOG_LEVEL, NOTHING)
    with profile(activities=activities, **options) as found:
        yield found


class KernelMarks:
    """Slices with the names of generated kernels, where the wrapper calls them: on a CPU the profiler has ops alone."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._marked: set[ModuleType] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> KernelMarks:
        """Mark the kernels of all output codes that are loaded."""
        self.add()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the output codes as they were."""
        with self._lock:
            self._stack.close()

    def add(self) -> None:
        """Mark the kernels of output codes that were loaded since."""
        with self._lock:
            for code in wrappers(self._marked):
                self._stack.enter_context(code.tapped(_marked, _straight))
                self._marked.add(code.module)


def _straight(body: Callable[..., Any], *args: Any) -> Any:
    return body(*args)


def _marked(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a kernel, in a slice of its name if it is a generated one: the profiler records the op of a library call."""
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
