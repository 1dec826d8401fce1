"""Generated code of a cell: number of kernels, digests to compare cells, and times."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Sequence

from core.analysis.work import frame_of
from core.report import Compilation


def directions_s(compilations: Sequence[Compilation]) -> dict[str, float]:
    """Return the wrapper seconds of a call by direction, for the newest compilation of each frame."""
    newest = {frame_of(compilation): compilation for compilation in compilations if compilation.wrapper_times}
    seconds: dict[str, float] = {}
    for wrapper in (wrapper for compilation in newest.values() for wrapper in compilation.wrapper_times):
        if wrapper.samples_s and wrapper.direction:
            so_far_s = seconds.get(wrapper.direction, 0.0)
            seconds[wrapper.direction] = so_far_s + statistics.median(wrapper.samples_s)
    return seconds


def code_digests(compilations: Sequence[Compilation]) -> tuple[str, str]:
    """Return digests of all kernels (names, lengths, bytes moved) and of the lines that call them."""
    kernels = [kernel for compilation in compilations for kernel in compilation.kernels]
    sources = [
        (kernel.name, not kernel.extern and kernel.lines[1] - kernel.lines[0], kernel.bytes_read, kernel.bytes_written)
        for kernel in kernels
    ]
    calls = [kernel.call_lines for kernel in kernels]
    return (_digest(sources), _digest(calls)) if kernels else ("", "")


def generated(compilations: Sequence[Compilation]) -> int:
    """Return the number of kernels that Inductor generated in all compilations, without library calls."""
    return len(
        {
            (compilation.id, kernel.id)
            for compilation in compilations
            for kernel in compilation.kernels
            if not kernel.extern
        }
    )


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
