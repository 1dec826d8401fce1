"""The memory use of one eager and one compiled call: the peak, the course over time, and the places of allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.report.record import Record

MemorySide = Literal["eager", "compiled"]


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A place that allocated memory: the outermost op, a generated kernel or a backward node, as torch names it.

    `line` is of the user's file for eager, and of the generated code for compiled, 0 where neither ran; `code` is which
    generated code that is, as a place in the list of them, None for eager. `module` is the path of the `nn.Module` in
    whose forward an eager op ran, empty where it ran in none that has a name.
    """

    op: str
    line: int = 0
    code: int | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """The bytes that are alive from each moment on, beyond those before the call; `places` are where they changed.

    A place is one of the list of places, −1 where memory was given back. Of a long curve the extremes are kept.
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
    """parameters, buffers and inputs: what is there before the call"""
    peak_bytes: int = 0
    """most that the allocator had given out at once beyond what it had before the call"""
    peak_us: float = 0.0
    """when, from the beginning of the call, as timed under the profiler"""
    call_us: float = 0.0
    """how long the call takes under the profiler"""
    left_bytes: int = 0
    """what it had given out beyond that after the call: results and gradients"""
    allocated_bytes: int = 0
    """all allocations of the call together"""
    allocations: int = 0
    """how many those are"""
    events: int = 0
    """allocations and releases; of more than 1,000 the curve holds the extremes"""
    curve: MemoryCurve = MemoryCurve()
    """what the allocator had given out, after each allocation and release"""
    alive: tuple[AliveMemory, ...] = ()
    """what was alive at the peak, by place, the largest first, 40 places at most"""
    places: tuple[MemoryPlace, ...] = ()
    """where memory was allocated; other fields name a place by its index"""
    codes: tuple[object, ...] = ()
    """the generated codes that places are in"""
    path: str = ""
    """the file whose lines eager's places name"""
    resident_bytes: int | None = None
    """by how much the resident memory of the process grew at most in a call: `VmHWM` of `/proc/self/status`, set back
    by writing 5 to `/proc/self/clear_refs`, less `VmRSS` before; the C library gives large blocks back at once, which
    it would keep otherwise; null where the system does not tell, and on an accelerator
    """
    counted_bytes: int | None = None
    """the peak in a call without the profiler, by the device's own `max_memory_allocated`; null on a CPU"""
    reason: str = ""
    """why it was not measured, empty if it was"""


@dataclass(frozen=True, slots=True)
class MemoryUse(MemoryFigures):
    """The figures with the codes in the log: the offset of each, None for one that the log does not hold."""

    codes: tuple[int | None, ...] = ()
