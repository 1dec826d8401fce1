"""An event loop for one coroutine."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
# A busy machine takes minutes; a test that is ended from outside would wait for the thread.
MOST_S = 400.0


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread of its own: while the browser of other tests is open, this one has a loop that runs.

    Raises TimeoutError.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asyncio.wait_for(work, MOST_S)).result()
