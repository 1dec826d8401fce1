"""Growth of a process's resident memory during a call, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# Written to it, the peak of the resident memory begins anew: proc(5).
RESET_PEAK = "5"
# Of malloc.h, and its default: mallopt(3).
M_MMAP_THRESHOLD, FIRST_THRESHOLD_BYTES = -3, 128 * 1024


def give_back_at_once() -> None:
    """Have the C library keep each large block in a map of its own, which goes when it is freed.

    Glibc raises the threshold for that with the first large block that is freed, up to 32 MiB, and keeps smaller ones:
    how much is resident would tell of all that was allocated before. Held at its first value, it stays there.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_THRESHOLD, FIRST_THRESHOLD_BYTES)


def let_go() -> None:
    """Give back what nothing uses any more: to Python, and from the C library to the system."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def resident_growth(call: Callable[[], Any]) -> int | None:
    """Make a call; by how many bytes the resident memory grew at most, None where the system does not tell."""
    let_go()
    try:
        CLEAR.write_text(RESET_PEAK)
        before = _status_bytes("VmRSS")
    except (OSError, LookupError):
        return None
    result = call()
    peak = _status_bytes("VmHWM")
    del result
    return max(0, peak - before)


def _status_bytes(name: str) -> int:
    """A line of the status, which is in kB of 1,024 bytes; raises LookupError where there is none."""
    for line in STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    raise LookupError(name)
