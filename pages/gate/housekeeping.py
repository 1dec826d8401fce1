"""Return of memory that visitors leave behind: collected now and then instead of after every page."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

PERIOD_S = 30.0


@asynccontextmanager
async def housekeeping(period_s: float = PERIOD_S) -> AsyncIterator[None]:
    """Collect garbage as long as the server runs; objects from its start are frozen, since they stay."""
    gc.collect()
    gc.freeze()
    task = asyncio.create_task(_collecting(period_s))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        gc.unfreeze()


async def _collecting(period_s: float) -> None:
    while True:
        await asyncio.sleep(period_s)
        await asyncio.to_thread(give_back)


def give_back() -> None:
    """Free unreferenced objects, and return the C library's free memory to the system."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
