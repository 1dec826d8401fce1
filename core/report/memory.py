"""The memory use of one eager and one compiled call: the peak, the course over time, and the places of allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.report.record import Record

MemorySide = Literal["eager", "compiled"]


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A place that allocated memory: the outermost op, a generated kernel or a backward node, as torch names it.

    `line` is of the user's file for eager, and of the generated code for compiled, 0 if neither ran; `code` is the
    index of that generated code in the list, None for eager. `module` is the path of the `nn.Module` whose forward ran
    an eager op, empty if no named module did.
    """

    op: str
    line: int = 0
    code: int | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """The allocated bytes from each moment on, beyond those before the call; `places` are the allocating places.

    A place is an index into the list of places, −1 for a release. Of a long curve the extremes are kept.
    """

    at_us: tuple[float, ...] = ()
    live_bytes: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AliveMemory:
    """Tensors from one place that were alive at the peak: their number and their bytes together."""

    place: int
    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryFigures(Record):
    """Memory of one call, by the allocator and by the system."""

    side: MemorySide
    """`eager` or `compiled`"""
    device: str = ""
    """the device whose memory it is, as the job names it"""
    held_bytes: int = 0
    """bytes before the call: parameters, buffers and inputs"""
    peak_bytes: int = 0
    """peak of the allocated bytes, beyond those before the call"""
    peak_us: float = 0.0
    """time of the peak, from the beginning of the call, as timed under the profiler"""
    call_us: float = 0.0
    """how long the call takes under the profiler"""
    left_bytes: int = 0
    """allocated bytes after the call, beyond those before it: results and gradients"""
    allocated_bytes: int = 0
    """bytes of all allocations of the call together"""
    allocations: int = 0
    """number of those allocations"""
    events: int = 0
    """allocations and releases; of more than 1,000 the curve holds the extremes"""
    curve: MemoryCurve = MemoryCurve()
    """allocated bytes after each allocation and release"""
    alive: tuple[AliveMemory, ...] = ()
    """tensors alive at the peak, by place, the largest first, 40 places at most"""
    places: tuple[MemoryPlace, ...] = ()
    """the places that allocated memory; other fields name a place by its index"""
    codes: tuple[object, ...] = ()
    """the generated codes that places are in"""
    path: str = ""
    """the file whose lines eager's places name"""
    resident_bytes: int | None = None
    """largest growth of the process's resident memory in a call: `VmHWM` of `/proc/self/status`, reset by writing 5 to
    `/proc/self/clear_refs`, less `VmRSS` before; the C library is made to release large blocks at once; null if the
    system does not report it, and on an accelerator
    """
    counted_bytes: int | None = None
    """the peak in a call without the profiler, by the device's own `max_memory_allocated`; null on a CPU"""
    reason: str = ""
    """why it was not measured, empty if it was"""


@dataclass(frozen=True, slots=True)
class MemoryUse(MemoryFigures):
    """The figures with the offset of each generated code in the log, None for a code that is not in the log."""

    codes: tuple[int | None, ...] = ()
