"""The record of memory: what one call took, eagerly or compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import AliveMemory, MemoryCurve, MemoryPlace, MemorySide
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(Record):
    """Twice, if the job asks for memory: the last call, made again eagerly and compiled.

    On a CPU each side has a process of its own, forked before the model was loaded, which makes all calls and then the
    last one three times more: for the resident memory, and twice under `torch.profiler`, whose memory events of the
    last are recorded. On an accelerator both are made in the run's own process. Before what is measured, gradients
    and results are let go of, and free memory is given back to the system.
    """

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
    curve: MemoryCurve = field(default_factory=MemoryCurve)
    """what the allocator had given out, after each allocation and release"""
    alive: tuple[AliveMemory, ...] = ()
    """what was alive at the peak, by place, the largest first, 40 places at most"""
    places: tuple[MemoryPlace, ...] = ()
    """where memory was allocated; other fields name a place by its index"""
    codes: tuple[str, ...] = ()
    """the files of the generated codes that places are in, as torch's `inductor_output_code` names them"""
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
