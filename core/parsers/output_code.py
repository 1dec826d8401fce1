"""Inductor's output code: which kernels it defines and where the wrapper calls what.

The code is a Python module. Kernels are strings given to `async_compile.<language>(…)`; the wrapper's `call` calls
them, and extern kernels, each under a comment that names it with torch's debug handle:

    cpp_fused_gelu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''…''')
    …
        # [Provenance debug handles] cpp_fused_gelu_0:2
        cpp_fused_gelu_0(buf0, buf1)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import cast

from core.decoder import whole
from core.report.schedule import Direction

AOT_ID = re.compile(r"^# AOT ID: \['\d+_(forward|backward|inference)'\]", re.MULTILINE)
DEFINITION = re.compile(r"^(\w+) = async_compile\.(\w+)\(")
HANDLE = re.compile(r"# \[Provenance debug handles\] (.*)$")
EXTERN = re.compile(r"^\s+(?:[\w\[\], ]+ = )?(extern_kernels\.\w+|aten\.[\w.]+|inductor_ops\.\w+|torch\.ops\.[\w.]+)\(")
NOT_KERNELS = re.compile(r"^torch\.ops\.(inductor\._reinterpret|profiler)|^aten\.(\w+_)?(size|stride|item)\b")
# Calls that only look at memory otherwise: they return a view of what they are given, and run nothing.
VIEWS = re.compile(
    r"^(?:torch\.ops\.)?aten\.(?:_conj|_neg_view|_reshape_alias|alias|as_strided|detach|diagonal|expand|imag|permute|real|select|slice|"
    r"split|split_with_sizes|squeeze|t|transpose|unbind|unfold|unsqueeze|view|view_as_complex|view_as_real)(?:\.|$)"
)
HEURISTIC = re.compile(r"@triton_heuristics\.(\w+)\(")
LANGUAGES = {
    "triton": "triton",
    "cpp": "cpp",
    "cpp_pybinding": "cpp",
    "cutlass": "cuda",
    "cuda": "cuda",
    "metal": "metal",
}


@dataclass(slots=True)
class FoundKernel:
    """One kernel of the text: line numbers count from 1; `handles` are torch's debug handles of its calls."""

    name: str
    language: str
    extern: bool
    category: str
    first: int
    last: int
    calls: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)


def direction(text: str) -> Direction:
    """forward, backward or inference, as the AOT ID says; empty if it does not."""
    match = AOT_ID.search(text[:2000])
    return cast(Direction, match.group(1)) if match else ""


def find_kernels(text: str) -> list[FoundKernel]:
    """Every kernel, generated ones in the order of their definition, then extern ones in the order of their calls."""
    lines = text.split("\n")
    generated = _definitions(lines)
    extern: list[FoundKernel] = []
    handles: dict[str, int] = {}
    known = {kernel.name: kernel for kernel in generated}
    called = re.compile(rf"^\s+(?:\w+ = )?({'|'.join(map(re.escape, known))})(?:\.run)?\(") if known else None
    inside = {number for kernel in generated for number in range(kernel.first, kernel.last + 1)}
    for number, line in enumerate(lines, 1):
        if number in inside:
            continue
        comment = HANDLE.search(line)
        if comment:
            handles = _handles(comment.group(1))
            continue
        match = called.match(line) if called else None
        if match:
            kernel = known[match.group(1)]
        elif (match := EXTERN.match(line)) and not (NOT_KERNELS.match(match.group(1)) or VIEWS.match(match.group(1))):
            kernel = FoundKernel(match.group(1), "extern", True, "extern", number, number)
            extern.append(kernel)
        else:
            continue
        kernel.calls.append(number)
        kernel.handles += [handle for name, handle in handles.items() if _same(name, kernel.name)]
        handles = {}
    return [*generated, *extern]


def _same(handle_name: str, kernel_name: str) -> bool:
    return handle_name == kernel_name or handle_name.rsplit(".", 1)[-1] == kernel_name.rsplit(".", 1)[-1]


def _handles(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, _, handle = part.strip().rpartition(":")
        if handle.isdecimal():
            found[name] = whole(handle)
    return found


def _definitions(lines: list[str]) -> list[FoundKernel]:
    found = []
    number = 0
    while number < len(lines):
        match = DEFINITION.match(lines[number])
        number += 1
        if not match or match.group(2) not in LANGUAGES:
            continue
        first = number
        while number < len(lines) and not lines[number].startswith("''')") and not lines[number].startswith("''',"):
            number += 1
        number += 1
        body = "\n".join(lines[first:number])
        found.append(
            FoundKernel(
                match.group(1), LANGUAGES[match.group(2)], False, _category(match.group(1), body), first, number
            )
        )
    return found


def _category(name: str, body: str) -> str:
    heuristic = HEURISTIC.search(body)
    if heuristic:
        return heuristic.group(1).replace("_", " ")
    if "micro_gemm" in body or "_gemm" in name:
        return "template"
    return "C++ loops"
