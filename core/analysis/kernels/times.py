"""Choice of a kernel's measurement: alone, or in place if that is missing or was disturbed.

Reliability of a run's kernel times: quiet machine, and equal times for equal work.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.analysis.interval import BUSY, busy
from core.base.words import duration_s
from core.report import Compilation, Kernel, KernelTime, Report, stored

Timed = Literal["by itself", "in place", "estimated", ""]
ALONE: Final = "by itself"
IN_PLACE: Final = "in place"
ESTIMATED: Final = "estimated"
MISSING: Final = ""
DISTURBED = 2.0
# Caches and first memory accesses make equal kernels differ by less than this factor.
UNLIKE_FROM = 3.0
# Excess time of uneven repeats, as a fraction of all kernel time, that is too small to change any finding.
LEAST_EXCESS = 0.05
Shape = tuple[str, tuple[str, ...]]


def how_timed(time: KernelTime | None) -> Timed:
    """Return the kind of time that counts for a kernel: alone, in place, or missing."""
    if time is None:
        return MISSING
    return ALONE if time.samples_s and not _disturbed(time) else IN_PLACE if time.in_place_s else MISSING


def untimed_reason(time: KernelTime | None) -> str:
    """Return why the time alone does not count; empty if it does."""
    if time is None or not time.samples_s:
        return time.reason if time else ""
    return "by itself it took far longer than in place: other processes had the machine" if _disturbed(time) else ""


def _disturbed(time: KernelTime) -> bool:
    """Return True if the kernel was far slower alone than in place, because other processes had the machine."""
    place_s = in_place_s(time)
    return place_s is not None and statistics.median(time.samples_s) > DISTURBED * place_s


def time_s(time: KernelTime | None, least: bool = False) -> float | None:
    """Return the seconds of one kernel call: alone if that was not disturbed, otherwise in place; None if not timed.

    This is the median of the samples, or with `least` their minimum. The minimum is for a busy machine, since other
    processes only add to a kernel's time, and may disturb most samples.
    """
    middle = min if least else statistics.median
    return middle(time.samples_s) if time and how_timed(time) == ALONE else in_place_s(time, least)


def in_place_s(time: KernelTime | None, least: bool = False) -> float | None:
    """Return the seconds of one call in place; median or minimum, as in `time_s`."""
    middle = min if least else statistics.median
    return middle(time.in_place_s) / max(1, time.calls) if time and time.in_place_s else None


def quartiles_s(time: KernelTime | None) -> tuple[float, float] | None:
    """Return the quartiles of the time alone, if that counts and has more than one sample."""
    if time is None or how_timed(time) != ALONE or len(time.samples_s) < 2:
        return None
    low, _, high = statistics.quantiles(time.samples_s, n=4, method="inclusive")
    return low, high


def kernel_times(compilation: Compilation) -> list[KernelTime]:
    """Return the measurements of every wrapper line that calls a kernel."""
    return [call.time for kernel in compilation.kernels for call in kernel.calls if call.time is not None]


@dataclass(frozen=True, slots=True)
class UnevenRepeats:
    """Two calls of one kernel or library function with the same shapes, and their seconds."""

    name: str
    slow_s: float
    fast_s: float

    @property
    def words(self) -> str:
        """Both times in words."""
        return f"`{self.name}` took {duration_s(self.slow_s)} and {duration_s(self.fast_s)} for the same shapes"


def times_unreliable(report: Report) -> str:
    """Return why the kernels' times are unreliable; empty if they are reliable."""
    if busy(report.kernel_load):
        return f"{BUSY} while the kernels were timed"
    twins = uneven_repeats(report)
    return f"{twins.words}, so kernel times are not reliable" if twins else ""


def kernels_disturbed(report: Report) -> str:
    """Return why the kernels' times are not compared with the ceilings; empty if they may be."""
    reason = times_unreliable(report)
    if not reason and report.roofline is not None and report.roofline.disturbed:
        return f"{BUSY} whenever the ceilings were measured"
    return reason


def kernel_seconds(report: Report, compilation: Compilation) -> dict[str, float]:
    """Return kernel → measured seconds of all its calls in one call of the model; empty if times are not reliable."""
    return {} if times_unreliable(report) else measured_seconds(compilation)


def measured_seconds(compilation: Compilation) -> dict[str, float]:
    """Return kernel → measured seconds of all its calls in one call of the model, whether reliable or not."""
    seconds_of: dict[str, float] = {}
    for kernel in compilation.kernels:
        for timed in (call.time for call in kernel.calls):
            seconds = time_s(timed)
            if timed is not None and seconds is not None:
                seconds_of[kernel.id] = seconds_of.get(kernel.id, 0.0) + seconds * max(1, timed.calls)
    return seconds_of


@stored
def uneven_repeats(report: Report) -> UnevenRepeats | None:
    """Return the repeats (calls with equal work) whose seconds differ most.

    None if repeats more than three-fold apart cost less than a twentieth of the kernels' time.
    """
    times = [time for compilation in report.compilations for time in kernel_times(compilation)]
    if not times:
        return None
    total_s = sum(time.calls * (time_s(time) or 0.0) for time in times)
    worst, excess_s = None, 0.0
    for compilation in report.compilations:
        for name, group in _groups(compilation):
            fast_s = min(seconds for seconds, _ in group)
            slow = [(seconds, calls) for seconds, calls in group if seconds > UNLIKE_FROM * fast_s]
            excess_s += sum((seconds - fast_s) * calls for seconds, calls in slow)
            slow_s = max((seconds for seconds, _ in slow), default=0.0)
            if slow and (worst is None or slow_s - fast_s > worst.slow_s - worst.fast_s):
                worst = UnevenRepeats(name, slow_s, fast_s)
    return worst if excess_s >= LEAST_EXCESS * total_s else None


def _groups(compilation: Compilation) -> Iterator[tuple[str, list[tuple[float, int]]]]:
    """Yield groups of calls with equal work and kind of timing: their seconds, and how often each ran."""
    shapes = _shapes(compilation)
    groups: dict[object, list[tuple[float, int]]] = {}
    names: dict[object, str] = {}
    for kernel in compilation.kernels:
        work = _work(kernel, shapes.get(kernel.id, ()))
        for time in (call.time for call in kernel.calls):
            seconds = time_s(time)
            if work is not None and time is not None and seconds:
                key = (work, how_timed(time))
                names[key] = kernel.name
                groups.setdefault(key, []).append((seconds, max(1, time.calls)))
    return ((names[key], group) for key, group in groups.items() if len(group) > 1)


def _work(kernel: Kernel, shapes: Sequence[Shape]) -> object:
    """Return a key that is equal for calls of equal work: kernel and shapes; None if a size is symbolic or unknown.

    Inductor calls one generated kernel if the source is equal, and the source contains the sizes. A library function
    has one name for all sizes.
    """
    if not all(size.isdigit() for _, shape in shapes for size in shape):
        return None
    if kernel.extern:
        return (kernel.name, kernel.bytes_read, kernel.flops, tuple(shapes)) if shapes else None
    return kernel.id


def _shapes(compilation: Compilation) -> dict[str, list[Shape]]:
    """Return kernel → dtype and shape of each buffer that its nodes read and write."""
    shapes: dict[str, list[Shape]] = {}
    for schedule in compilation.schedules:
        buffers = {buffer.name: (buffer.dtype, buffer.shape) for buffer in schedule.buffers}
        for node in schedule.before:
            touched = (name for name, _ in (*node.reads, *node.writes) if name in buffers)
            shapes.setdefault(node.kernel, []).extend(buffers[name] for name in touched)
    return shapes
