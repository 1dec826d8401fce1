"""Comparison of two runs' generated code, as normalised text of kernels and wrappers."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass

from core import Report, Run, load_text
from core.code.output_code import find_kernels, lines_of

# Text that differs between any two runs: a process's counters (compiled graphs, debug handles), and the paths of a
# run's files and of the caches.
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
class CodeComparison:
    """The comparison of two runs' code: numbers of equal kernels and wrappers, and the differences."""

    graphs: int
    kernels: int
    same_kernels: int
    same_wrappers: int
    differences: tuple[str, ...]


def codes(run: Run, report: Report) -> list[Code]:
    """Return the output codes of a run in the order of generation, normalised."""
    log = run.log_path()
    assert log is not None
    by_place: dict[tuple[int, str], Code] = {}
    for compilation in report.compilations:
        for kernel in compilation.kernels:
            key = kernel.output_code.offset, f"{compilation.id} {kernel.direction}"
            if key not in by_place:
                by_place[key] = code(key[1], load_text(log, kernel.output_code))
    return [by_place[key] for key in sorted(by_place)]


def code(graph: str, text: str) -> Code:
    """Split an output code into its kernels and its wrapper, without unstable parts."""
    for pattern, stable in UNSTABLE:
        text = pattern.sub(stable, text)
    generated = [kernel for kernel in find_kernels(text) if kernel.language == "triton"]
    wrapper = text.split("\n")
    for kernel in reversed(generated):
        wrapper[kernel.first - 1 : kernel.last] = [kernel.name]
    return Code(
        graph, {kernel.name: lines_of(text, kernel.first, kernel.last) for kernel in generated}, "\n".join(wrapper)
    )


def compare(hidden: list[Code], used: list[Code]) -> CodeComparison:
    """Compare two runs, graph by graph; code that only one of them has counts as different."""
    kernels = same_kernels = same_wrappers = 0
    differences = []
    pairs = paired(hidden, used)
    for graph, left, right in pairs:
        for name in dict.fromkeys([*right.kernels, *left.kernels]):
            same = left.kernels.get(name) == right.kernels.get(name)
            kernels, same_kernels = kernels + 1, same_kernels + same
            if not same:
                differences.append(
                    _difference(f"{graph} {name}", left.kernels.get(name, ""), right.kernels.get(name, ""))
                )
        same_wrappers += left.wrapper == right.wrapper
        if left.wrapper != right.wrapper:
            differences.append(_difference(f"{graph} wrapper", left.wrapper, right.wrapper))
    return CodeComparison(len(pairs), kernels, same_kernels, same_wrappers, tuple(differences))


def paired(hidden: list[Code], used: list[Code]) -> list[tuple[str, Code, Code]]:
    """Return (graph, code with the GPU hidden, code on the GPU) for each graph; missing code is empty.

    For a target, a backward is compiled with its forward; on the GPU, at its first call. So their orders differ.
    """
    sides: list[dict[tuple[str, int], Code]] = []
    for side in (hidden, used):
        seen: Counter[str] = Counter()
        sides.append({})
        for graph_code in side:
            sides[-1][graph_code.graph, seen[graph_code.graph]] = graph_code
            seen[graph_code.graph] += 1
    empty = Code("", {}, "")
    keys = dict.fromkeys([*sides[1], *sides[0]])
    return [(key[0], sides[0].get(key, empty), sides[1].get(key, empty)) for key in keys]


def _difference(title: str, hidden: str, used: str) -> str:
    lines = list(
        difflib.unified_diff(hidden.splitlines(), used.splitlines(), "GPU hidden", "GPU in use", "", "", 1, "")
    )
    return "\n".join([title, *lines[:MAX_DIFF_LINES]])
