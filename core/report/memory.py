"""How much memory one eager and one compiled call took: at most, over its time, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MemorySide = Literal["eager", "compiled"]


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Where memory was allocated: the outermost op, a generated kernel or a backward node, as torch names it.

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
    """So many tensors of so many bytes together, from one place, that were alive at the peak."""

    place: int
    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The memory of the last call, made again by one side in a process of its own, or why it was not measured.

    `held_bytes` is what is there before the call: parameters, buffers and inputs. The allocator's figures are beyond
    that: `peak_bytes` at most, `peak_us` after its beginning, `left_bytes` after it, with what it returns and its
    gradients; under the profiler it takes `call_us`. `path` is the file whose lines eager's places name;
    `allocated_bytes` in `allocations` is all that was asked for. `events` counts allocations and releases before the
    curve was thinned. `resident_bytes` is by how much the memory that the process holds grew at most; None where the
    system does not tell. `counted_bytes` is the peak by the device's own statistics, None on a CPU. `codes` are where
    the generated codes lie in the log, None for one that the log does not hold.
    """

    side: MemorySide
    device: str = ""
    held_bytes: int = 0
    peak_bytes: int = 0
    peak_us: float = 0.0
    call_us: float = 0.0
    left_bytes: int = 0
    allocated_bytes: int = 0
    allocations: int = 0
    events: int = 0
    curve: MemoryCurve = MemoryCurve()
    alive: tuple[AliveMemory, ...] = ()
    places: tuple[MemoryPlace, ...] = ()
    codes: tuple[int | None, ...] = ()
    path: str = ""
    resident_bytes: int | None = None
    counted_bytes: int | None = None
    reason: str = ""
