"""Start message, filter of the log for the owner's terminal, and garbage collection.

The message has the server's address and the secret. The filter passes each problem once, without control
characters: visitors can make pages fail repeatedly with their own text in the message, and must not flood
the log or control the terminal. Garbage is collected periodically, not after every page.
"""

import asyncio
import ctypes
import gc
import logging
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any

import streamlit as st

from pages.gate.middleware import TOKEN
from pages.gate.rules import Rules

ANYWHERE = ("", "0.0.0.0", "::")
PERIOD_S = 30.0
# Python's thresholds of its three generations, which are meant for less objects than a page makes.
THRESHOLDS = (20_000, 20, 50)
# From malloc.h: mallopt(3).
M_ARENA_MAX, ARENAS = -8, 2
SERVERS = ("streamlit", "uvicorn", "websockets", "asyncio", "starlette")
MAX_PLACES = 500  #: problems printed to the terminal, each once
MAX_CHARS = 400  #: the message of a printed problem
Place = tuple[str, int, str, str, int]


def greeting(
    rules: Rules,
    begin: Callable[[], object] = lambda: None,
    announced: Callable[[str], AbstractContextManager[object]] = nullcontext,
    running: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return a lifespan of the app that prints the addresses when the port is known.

    The lifespan then calls `begin` in a thread. While the app runs, the contexts `announced(url)` and `running()` are
    open, and garbage is collected periodically.
    """

    @asynccontextmanager
    async def greet(_app: Any) -> AsyncIterator[None]:
        url = _url()
        print(words(rules, url), flush=True)
        print_once()
        threading.Thread(target=begin, daemon=True).start()
        with announced(url):
            async with housekeeping(), running():
                yield

    return greet


def words(rules: Rules, url: str, kernel_knows: bool = sys.platform == "linux") -> str:
    """Return the start message: addresses, and who may use the address that contains the secret."""
    secret = f"{url}/?{TOKEN}={rules.secret}"
    if not (rules.code or rules.private):
        return f"\n  Compileboard: {url}\n  As its owner, who may delete all runs: {secret}\n"
    if rules.private and kernel_knows:
        return f"\n  Compileboard: {url}\n  As another user of this machine: {secret}\n"
    return f"\n  Compileboard: {secret}\n  Anyone with this address can run code as you.\n"


def _url() -> str:
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    address = st.get_option("server.address") or ""
    host = "localhost" if address in ANYWHERE else f"[{address}]" if ":" in address else address
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{scheme}://{host}:{st.get_option('server.port')}" + (f"/{base}" if base else "")


@asynccontextmanager
async def housekeeping(period_s: float = PERIOD_S) -> AsyncIterator[None]:
    """Limit malloc's arenas, collect garbage periodically, and make Python's own collections rare.

    Objects that exist at the start are frozen, since the server never frees them.
    """
    before = gc.get_threshold()
    limit_arenas()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    task = asyncio.create_task(_collecting(period_s))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        gc.set_threshold(*before)
        gc.unfreeze()


async def _collecting(period_s: float) -> None:
    while True:
        await asyncio.sleep(period_s)
        await asyncio.to_thread(give_back)


def give_back() -> None:
    """Free unreferenced objects, and return the C library's free memory to the system."""
    gc.collect()
    _c_library("malloc_trim", 0)


def limit_arenas() -> None:
    """Limit the C library to two malloc arenas in this process, where the library has the setting.

    glibc otherwise makes up to eight arenas per core for a server's threads, and each retains free memory.
    """
    _c_library("mallopt", M_ARENA_MAX, ARENAS)


def _c_library(function: str, *arguments: int) -> None:
    """Call a function of the C library on Linux, if the library has it."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)


class Once(logging.Filter):
    """Filter that passes each warning or error once per place in the code, and all other records.

    It makes the text of each record printable.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[Place] = set()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record should be printed, and make its text printable."""
        if record.levelno >= logging.WARNING and not self._is_new(place_of(record)):
            return False
        record.msg, record.args = printable(record.getMessage()), ()
        if record.exc_info and record.exc_info[1]:
            record.exc_text = traceback_text(record.exc_info[1])
            record.exc_info = None
        return True

    def _is_new(self, place: Place) -> bool:
        with self._lock:
            new = place not in self._seen and len(self._seen) < MAX_PLACES
            self._seen |= {place} if new else set()
            return new


def place_of(record: logging.LogRecord) -> Place:
    """Return the places of the log call and of the exception's origin; visitors can't choose them."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return record.pathname, record.lineno, "", "", 0
    raised = _last(error.__traceback__)
    where = (raised.tb_frame.f_code.co_filename, raised.tb_lineno) if raised else ("", 0)
    return record.pathname, record.lineno, type(error).__name__, *where


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def traceback_text(error: BaseException) -> str:
    """Return the traceback, with the exception's message as one line."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{type(error).__name__}: {printable(str(error))}"


def printable(text: str) -> str:
    """Return a text as one line, with escapes for unprintable characters, cut if it is long."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[:MAX_CHARS])


def print_once() -> None:
    """Filter the messages of the server's libraries, whose loggers exist once the server runs."""
    only_once = Once()
    # Libraries create their loggers when they first log something.
    for name in {*SERVERS, *logging.root.manager.loggerDict}:
        if name.partition(".")[0] in SERVERS:
            logging.getLogger(name).addFilter(only_once)
