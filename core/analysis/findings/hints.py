"""torch's hints for graph breaks, corrected by a literal table where following them fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from core.report import GraphBreak

# Files that the user can't edit: installed packages and Python's standard library.
LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3\.\d+)/|(?:^|/)torch/(?:_\w+|nn|optim|utils)/")
OPTIMIZER = re.compile(r"(?:^|/)torch/optim/")
TORCH = re.compile(r"(?:^|/)torch/(?:_\w+|distributed|nn|optim|utils|autograd|fx)/")
STANDARD = re.compile(r"(?:^|/)lib/python3\.\d+/(?!site-packages|dist-packages)|^<frozen ")
# Path in torch → class whose code it is.
OWNERS = {
    "torch/nn/parallel/distributed": "DistributedDataParallel",
    "torch/distributed/fsdp": "FSDP",
    "torch/distributed/_composable": "FSDP",
}
BUILTIN = re.compile(r"how to trace the builtin `(?P<name>[^`]+?)\.?`")
SKIPPED = re.compile(r"that the function `(?P<name>[^`]+)`(?: in file `(?P<file>[^`]+)`)?")
# Hints that name no change of the code.
NO_CHANGE = re.compile(
    r"(?:report|file|open) an issue|report a bug|graph break is fundamental|may result in an error when running in"
)
UNKNOWN_MODULE = "<unknown module>."
OUTSIDE = (
    "`{name}` belongs to Python, and Dynamo cannot trace it: call it before or after the compiled function. If the "
    "code needs the result, pass it as a tensor."
)
OF_OPTIMIZER = (
    "torch's optimizer requests this break itself; no change in your code removes it. Compile the step separately, "
    "`torch.compile(optimizer.step)`: the update is then one graph, separate from forward and backward."
)
DRAW_OUTSIDE = (
    "`use_numpy_random_stream` keeps NumPy's own random numbers by this graph break. Draw them before the call, and "
    "pass them as an input: one graph, with the same numbers."
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A hint that fails when followed: its pattern, a test of the break, and the text instead.

    An empty text drops the hint. `{name}` in the text is the function in torch's explanation.
    """

    hint: re.Pattern[str]
    fits: Callable[[GraphBreak], bool]
    text: str


def is_library(file: str) -> bool:
    """Return True if a file belongs to an installed package or to Python itself."""
    return LIBRARY.search(file) is not None


def is_generated(file: str) -> bool:
    """Return True for the code that torch generates for a graph, such as compiled autograd's."""
    return file.startswith("<eval_with_key>")


def is_torchs(file: str) -> bool:
    """Return True if a file belongs to torch or to Python's standard library."""
    return TORCH.search(file) is not None or STANDARD.search(file) is not None


def owner_in_torch(graph_break: GraphBreak) -> str:
    """Return the part of torch whose own code breaks the graph; empty if other code leads to the break.

    Below the last line of any other code, the stack has lines of torch and of Python's library only. A line of the user
    may call DistributedDataParallel or FSDP; for other parts of torch there must be none.
    """
    files = [frame.file for frame in graph_break.stack] or [graph_break.place.file]
    others = [index for index, file in enumerate(files) if not is_torchs(file)]
    inner = files[others[-1] + 1 :] if others else files
    owner = next((name for mark, name in OWNERS.items() if any(mark in file for file in inner)), "")
    return owner or ("torch" if not others and any(TORCH.search(file) for file in files) else "")


def builtin_name(graph_break: GraphBreak) -> str:
    """Return the builtin that Dynamo can't trace, as `time.perf_counter`; empty for any other break."""
    match = BUILTIN.search(graph_break.explanation)
    return match["name"].removeprefix(UNKNOWN_MODULE) if match else ""


def _is_pythons(graph_break: GraphBreak) -> bool:
    match = BUILTIN.search(graph_break.explanation)
    root = match["name"].partition(".")[0] if match else ""
    return root in sys.stdlib_module_names or root == UNKNOWN_MODULE.rstrip(".")


def _is_extension(graph_break: GraphBreak) -> bool:
    return not _is_pythons(graph_break)


def _is_in_library(graph_break: GraphBreak) -> bool:
    match = SKIPPED.search(graph_break.explanation)
    return match is not None and is_library(match["file"] or "")


def _is_of_optimizer(graph_break: GraphBreak) -> bool:
    match = SKIPPED.search(graph_break.explanation)
    return match is not None and OPTIMIZER.search(match["file"] or "") is not None


def _always(_: GraphBreak) -> bool:
    return True


CORRECTIONS = (
    Correction(
        re.compile(r"torch\._dynamo\.trace_autograd_ops"),
        _always,
        "Set `torch._dynamo.config.trace_autograd_ops = True`.",
    ),
    Correction(re.compile(r"If it is a Python builtin"), _is_pythons, OUTSIDE),
    Correction(re.compile(r"If it is a third-party C/C\+\+ Python extension"), _is_pythons, ""),
    Correction(re.compile(r"If it is a Python builtin"), _is_extension, ""),
    Correction(re.compile(r"dont_skip_tracing"), _is_in_library, ""),
    Correction(re.compile(r"Avoid calling the function"), _is_of_optimizer, OF_OPTIMIZER),
    Correction(re.compile(r"use_numpy_random_stream` to False"), _always, DRAW_OUTSIDE),
)


def corrected_hints(graph_break: GraphBreak) -> list[str]:
    """Return torch's hints for a break, corrected; hints without a change of the code come last."""
    hints = [_corrected(hint, graph_break) for hint in graph_break.hints]
    return sorted(filter(None, hints), key=lambda hint: NO_CHANGE.search(hint) is not None)


def _corrected(hint: str, graph_break: GraphBreak) -> str:
    for correction in CORRECTIONS:
        if correction.hint.search(hint) and correction.fits(graph_break):
            return correction.text.replace("{name}", builtin_name(graph_break))
    return hint
