"""How much more memory a process holds at most while it makes a call, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# Written to it, the peak of the resident memory begins anew: proc(5).
RESET_PEAK = "5"


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
