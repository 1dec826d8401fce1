"""Generated code of two runs side by side: split into kernels and wrappers, normalised, and compared character by
character.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass

from core import Report, Run, load_text
from core.code.output_code import find_kernels, lines_of

# Text that differs between any two runs: counters of the process (of compiled graphs, of debug handles), and the paths
# of a run's files and of the caches.
UNSTABLE = (
    (re.compile(r"^# AOT ID: .*$", re.MULTILINE), "# AOT ID"),
    (re.compile(r"(# \[Provenance debug handles\] .*):\d+$", re.MULTILINE), r"\1"),
    (re.compile(r"/[\w./-]*/(?=(?:model|[a-z0-9]{20,})\.py)"), "/"),
    (re.compile(r"\bc[a-z0-9]{50,}\.py"), "x.py"),
)
MAX_DIFF_LINES = 40


@dataclass(frozen=True, slots=True)
class Code:
    """The generated code of one graph: its kernels by name, and the wrapper around them."""

    graph: str
    kernels: dict[str, str]
    wrapper: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of two runs' code: how much is the same, and the differences."""

    graphs: int
    kernels: int
    same_kernels: int
    same_wrappers: int
    differences: tuple[str, ...]


def codes(run: Run, report: Report) -> list[Code]:
    """Return the output codes of a run in the order of generation, normalised."""
    log = run.log_path()
    assert log is not None
    found: dict[tuple[int, str], Code] = {}
    for compilation in report.compilations:
        for kernel in compilation.kernels:
            key = kernel.output_code.offset, f"{compilation.id} {kernel.direction}"
            if key not in found:
                found[key] = code(key[1], load_text(log, kernel.output_code))
    return [found[key] for key in sorted(found)]


def code(graph: str, text: str) -> Code:
    """Split an output code into its kernels and its wrapper, without unstable parts."""
    for pattern, stable in UNSTABLE:
        text = pattern.sub(stable, text)
    generated = [kernel for kernel in find_kernels(text) if kernel.language == "triton"]
    wrapper = text.split("\n")
    for kernel in reversed(generated):
        wrapper[kernel.first - 1 : kernel.last] = [kernel.name]
    return Code(graph, {item.name: lines_of(text, item.first, item.last) for item in generated}, "\n".join(wrapper))


def compare(hidden: list[Code], used: list[Code]) -> Compared:
    """Compare two runs, graph by graph; code that only one of them has counts as different."""
    kernels = same_kernels = same_wrappers = 0
    differences = []
    pairs = paired(hidden, used)
    for graph, ours, theirs in pairs:
        for name in dict.fromkeys([*theirs.kernels, *ours.kernels]):
            same = ours.kernels.get(name) == theirs.kernels.get(name)
            kernels, same_kernels = kernels + 1, same_kernels + same
            if not same:
                differences.append(
                    _difference(f"{graph} {name}", ours.kernels.get(name, ""), theirs.kernels.get(name, ""))
                )
        same_wrappers += ours.wrapper == theirs.wrapper
        if ours.wrapper != theirs.wrapper:
            differences.append(_difference(f"{graph} wrapper", ours.wrapper, theirs.wrapper))
    return Compared(len(pairs), kernels, same_kernels, same_wrappers, tuple(differences))


def paired(hidden: list[Code], used: list[Code]) -> list[tuple[str, Code, Code]]:
    """Pair the codes of the same graph.

    A backward is compiled with its forward for a target, but at its first call on the GPU.
    """
    sides: list[dict[tuple[str, int], Code]] = []
    for found in (hidden, used):
        seen: Counter[str] = Counter()
        sides.append({})
        for item in found:
            sides[-1][item.graph, seen[item.graph]] = item
            seen[item.graph] += 1
    empty = Code("", {}, "")
    keys = dict.fromkeys([*sides[1], *sides[0]])
    return [(key[0], sides[0].get(key, empty), sides[1].get(key, empty)) for key in keys]


def _difference(title: str, hidden: str, used: str) -> str:
    lines = list(
        difflib.unified_diff(hidden.splitlines(), used.splitlines(), "GPU hidden", "GPU in use", "", "", 1, "")
    )
    return "\n".join([title, *lines[:MAX_DIFF_LINES]])
