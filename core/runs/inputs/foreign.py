"""Files of other tools that are no trace, each with what it is and how to use it.

A file is recognized by its first bytes, a directory by the names of its files. Nothing is unpickled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from core.base.files import open_regular
from core.trace.reader import header_lines

MOST_READ_BYTES = 65_536  #: the start of a file by which another tool is recognised
RECORD = "record one with `TORCH_TRACE=DIR python …` and open DIR"
PICKLE = re.compile(rb"\x80[\x02-\x05]")
KINETO = re.compile(rb'\A\s*\{.*"(?:traceEvents|deviceProperties|schemaVersion)"', re.DOTALL)
EVENTS = re.compile(rb'\A\s*\[\s*\{[^}]{0,4000}"ph"', re.DOTALL)
TRITONPARSE = re.compile(rb'\A[^\n]{0,60000}?"event_type": ?"(?:compilation|launch|launch_diff)"')
TLPARSE_LINE = re.compile(rb'\A\s*\{"(?:string_table"|[^\n]{0,60000}?"(?:pathname|compile_id|frame_id)")')
# Recognized bytes of a file → what it is.
FILES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        PICKLE,
        "is a pickle, such as a memory snapshot of torch. Compileboard never unpickles a file, since that runs code. "
        "PyTorch's memory_viz page shows snapshots; *Memory* shows the memory of a run of Compileboard",
    ),
    (TRITONPARSE, f"is a log of tritonparse, which has Triton's compilations alone. For torch.compile, {RECORD}"),
    (
        KINETO,
        "is a profile of torch.profiler (Kineto). `python -m core profile RUN FILE` shows it beside the run that it "
        "profiled",
    ),
    (
        EVENTS,
        "is a list of Chromium events. A profile of torch.profiler opens with `python -m core profile RUN FILE`; of "
        "tlparse's output, open the whole directory",
    ),
)


def is_tlparse_index(path: Path) -> bool:
    """Return True if a file is tlparse's `raw.jsonl`. Raises OSError."""
    start = _start(path)
    return TLPARSE_LINE.match(start) is not None and not (TRITONPARSE.match(start) or KINETO.match(start))


def foreign_file_words(path: Path) -> str:
    """Return what a file of another tool is, and how to use it; empty for a log and for unknown files.

    Raises OSError.
    """
    start = _start(path)
    if next(header_lines(start), None) is not None:
        return ""
    return next((words for pattern, words in FILES if pattern.match(start)), "")


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(MOST_READ_BYTES)


def foreign_directory_words(files: Iterable[Path]) -> str:
    """Return what a directory of another tool is, and how to use it; empty for an unknown directory."""
    paths = list(files)
    return next((words for is_of, words in DIRECTORIES if any(map(is_of, paths))), "")


def _is_named(pattern: str) -> Callable[[Path], bool]:
    compiled = re.compile(pattern)
    return lambda path: compiled.search(path.as_posix()) is not None


# Recognized path of a file in a directory → what the directory is.
DIRECTORIES: tuple[tuple[Callable[[Path], bool], str], ...] = (
    (
        _is_named(r"(?:^|/)(?:compile_directory\.json|failures_and_restarts\.html)$"),
        "is tlparse's output directory without `raw.log`, `raw.jsonl` and the files with payloads. Open the log from "
        "which it was made, or the whole directory",
    ),
    (
        _is_named(r"(?:^|/)(?:full_code_for_\w+|__transformed_code_\w+|__compiled_fn_\d+\w*)(?: \w+)*\.py$"),
        f"is a folder of depyf, which has decompiled code without torch's records. For torch.compile, {RECORD}",
    ),
    (
        _is_named(r"(?:^|/)(?:fxgraph|aotautograd)/\w{2}/|(?:^|/)\w{2}/c\w{40,60}\.(?:py|cpp|main\.cpp)$"),
        "is a cache directory of Inductor, which has generated code without graphs. For the compilations, "
        f"{RECORD}; set TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 so that all is compiled again",
    ),
)
