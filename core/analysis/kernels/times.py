"""Which of a kernel's measurements counts: by itself, or in place where that was not measured or was disturbed."""

from __future__ import annotations

import statistics
from typing import Final, Literal

from core.report import Compilation, KernelTime

Timed = Literal["by itself", "in place", "estimated", ""]
ALONE: Final = "by itself"
IN_PLACE: Final = "in place"
ESTIMATED: Final = "estimated"
MISSING: Final = ""
DISTURBED = 2.0


def how_timed(found: KernelTime | None) -> Timed:
    """Which time of a kernel counts: by itself, in place, or none."""
    if found is None:
        return MISSING
    return ALONE if found.samples_s and not _disturbed(found) else IN_PLACE if found.in_place_s else MISSING


def untimed_reason(found: KernelTime | None) -> str:
    """Why the time by itself does not count, empty where it does."""
    if found is None or not found.samples_s:
        return found.reason if found else ""
    return "by itself it took far longer than in place: other processes had the machine" if _disturbed(found) else ""


def _disturbed(found: KernelTime) -> bool:
    """Whether it took far longer by itself than in place: then other processes had the machine meanwhile."""
    place_s = in_place_s(found)
    return place_s is not None and statistics.median(found.samples_s) > DISTURBED * place_s


def time_s(found: KernelTime | None, least: bool = False) -> float | None:
    """Seconds of one call of a kernel: by itself if that was measured undisturbed, else in place; None if neither
    was.

    The median of the samples, or with `least` the least of them, for a machine that was busy: what other processes take
    is only ever added to a kernel's time, and may be part of most samples.
    """
    middle = min if least else statistics.median
    return middle(found.samples_s) if found and how_timed(found) == ALONE else in_place_s(found, least)


def in_place_s(found: KernelTime | None, least: bool = False) -> float | None:
    """Seconds of one call where it stands; the median or the least, as in `time_s`."""
    middle = min if least else statistics.median
    return middle(found.in_place_s) / max(1, found.calls) if found and found.in_place_s else None


def quartiles_s(found: KernelTime | None) -> tuple[float, float] | None:
    """Quartiles of the time by itself, where that counts and was sampled more than once."""
    if found is None or how_timed(found) != ALONE or len(found.samples_s) < 2:
        return None
    low, _, high = statistics.quantiles(found.samples_s, n=4, method="inclusive")
    return low, high


def kernel_times(compilation: Compilation) -> list[KernelTime]:
    """What was measured of each line of its wrappers that calls a kernel."""
    return [call.time for kernel in compilation.kernels for call in kernel.calls if call.time is not None]
