"""Choice of a kernel's measurement: alone, or in place if that is missing or was disturbed."""

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
    """Return the seconds of one kernel call: alone if measured undisturbed, otherwise in place; None without either.

    The median of the samples, or with `least` their minimum, for a busy machine: other processes only add to a kernel's
    time, and may disturb most samples.
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
