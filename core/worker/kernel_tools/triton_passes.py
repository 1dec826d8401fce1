"""MLIR passes that changed a kernel's module, from the dump that MLIR prints before each pass:

// -----// IR Dump Before TritonGPUCoalesce (tritongpu-coalesce) ('builtin.module' operation) //----- //
module { … }

What a pass made is what the next one is given. Locations are left out: they change with every line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from core.base.errors import ToolError
from core.code.diff import diff_texts, without_locations
from core.runs.tools import PassChange, Passes, PassesAnswer, Task
from core.worker.kernel_tools.triton_source import compiled, config_at, load, source_of

# `Coalesce (tritongpu-coalesce) (…)`, and since Triton 3.9 `Coalesce: tritongpu-coalesce{options} (…)`.
HEADER = re.compile(
    r"^// -----// IR Dump Before (\S+?)(?: \(|: )([^\s){]*).*\('builtin\.module' operation\).*$", re.MULTILINE
)
ANY_HEADER = re.compile(r"^// -----// .*", re.MULTILINE)
MAX_DUMP_BYTES = 200_000_000
MAX_DIFF_LINES = 1_500
MAX_DIFFS = 120


def passes(task: Task, directory: Path) -> PassesAnswer:
    """Compile one config once more, with MLIR printing; raises ToolError."""
    request = task.request
    assert isinstance(request, Passes)
    source = source_of(task, request.target, directory)
    kernel = load(source)
    config = config_at(kernel, request.config)
    dump = directory / "passes.mlir"
    with _printed_to(dump):
        compiled(kernel, config)
    steps = list(_steps(dump))
    dump.unlink()
    if not steps:
        raise ToolError("MLIR printed nothing: this build of Triton was made without its dumps")
    changes = list(_changes(steps))
    return PassesAnswer(source.words, len(steps), tuple(changes[:MAX_DIFFS]), max(0, len(changes) - MAX_DIFFS))


@contextmanager
def _printed_to(path: Path) -> Iterator[None]:
    """Let MLIR print, on standard error, into a file."""
    standard_error = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    os.environ["MLIR_ENABLE_DUMP"] = "1"
    try:
        yield
    finally:
        del os.environ["MLIR_ENABLE_DUMP"]
        os.dup2(standard_error, 2)
        os.close(standard_error)


def _steps(dump: Path) -> Iterator[tuple[str, str, str]]:
    """Each pass over the whole module: its name, its argument, and the module that it was given."""
    with dump.open("rb") as file:
        text = file.read(MAX_DUMP_BYTES).decode("utf-8", "replace")
    for match in HEADER.finditer(text):
        end = ANY_HEADER.search(text, match.end())
        yield match.group(1), match.group(2), without_locations(text[match.end() : end.start() if end else len(text)])


def _changes(steps: list[tuple[str, str, str]]) -> Iterator[PassChange]:
    for (name, argument, before), (_, _, after) in pairwise(steps):
        if before == after:
            continue
        diff = diff_texts(before, after, f"before {name}", f"after {name}", MAX_DIFF_LINES)
        yield PassChange(name, argument, diff.added, diff.removed, diff.text, diff.left_out)
