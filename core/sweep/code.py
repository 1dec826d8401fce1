"""Generated code of a cell: number of kernels, digests to compare cells, and times."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Sequence

from core.analysis.work import frame_of
from core.report import Compilation


def directions_s(found: Sequence[Compilation]) -> dict[str, float]:
    """Return the wrapper seconds of a call by direction, for the newest compilation of each frame."""
    newest = {frame_of(one): one for one in found if one.wrapper_times}
    seconds: dict[str, float] = {}
    for wrapper in (wrapper for one in newest.values() for wrapper in one.wrapper_times):
        if wrapper.samples_s and wrapper.direction:
            known_s = seconds.get(wrapper.direction, 0.0)
            seconds[wrapper.direction] = known_s + statistics.median(wrapper.samples_s)
    return seconds


def made(found: Sequence[Compilation]) -> tuple[str, str]:
    """Return digests of all kernels (names, lengths, bytes moved) and of the lines that call them."""
    kernels = [kernel for compilation in found for kernel in compilation.kernels]
    sources = [
        (kernel.name, not kernel.extern and kernel.lines[1] - kernel.lines[0], kernel.bytes_read, kernel.bytes_written)
        for kernel in kernels
    ]
    calls = [kernel.call_lines for kernel in kernels]
    return (_digest(sources), _digest(calls)) if kernels else ("", "")


def generated(found: Sequence[Compilation]) -> int:
    """Return the number of kernels that Inductor generated in all compilations, without library calls."""
    return len({(one.id, kernel.id) for one in found for kernel in one.kernels if not kernel.extern})


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
