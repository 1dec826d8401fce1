"""Requests of visitors' programs: uploads of logs directly to disk, and calls of their coding agents.

An upload is within the limits of the server's owner, and leaves no partial files.
Streamlit's own upload would keep the file in memory as long as the session exists.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core import AccessError, CompileboardError, Runner, check_upload
from pages.gate.middleware import VISITOR
from pages.gate.visitor import Who, told
from pages.session import actions, server

if TYPE_CHECKING:
    from core import AgentRoute

# Simultaneous uploads of one visitor, and of all guests. The owner's count separately, so that guests can't block them.
MOST_AT_ONCE = 4  #: limit: simultaneous uploads of one visitor
MOST_OF_GUESTS = 16  #: limit: simultaneous uploads of all guests
SILENCE_S = 60.0
# A guest's upload that is slower than this after LENIENT_S is ended, so that it does not block its slot.
LEAST_BYTES_PER_S = 10_000
LENIENT_S = 20.0
LONGEST_S = 1_200.0  #: limit: seconds of a guest's upload
REFUSED_S = 10.0
WRITTEN_AT_ONCE = 1 << 20
TOO_SLOW = "The upload was too slow and was stopped; nothing was stored."
BUSY = "Too many uploads at the moment; try again soon."
DISK_FULL = "The disk of this server is full; the log was not stored."


def agent_route(path: str) -> AgentRoute | None:
    """Return the app for agents at a path; None for an empty path, where the owner did not switch it on."""
    if not path:
        return None
    # Not for a server without agents: it would import what their commands need.
    from core import AgentRoute

    return AgentRoute(server.the_runner, lambda request: told(request.headers.getlist(VISITOR)), actions.run_for_agent)


def upload_routes(base: str = "") -> list[Route]:
    """Return the route below `base`, the server's own path; the gate refuses requests from other pages."""
    start = f"/{base.strip('/')}" if base.strip("/") else ""
    return [Route(f"{start}/upload", Uploads().take, methods=["POST"])]


class TooSlow(Exception):
    """A guest's upload that is too slow, and would block its slot."""


class Uploads:
    """The current uploads, counted by their visitors' names; the owner's name is empty."""

    def __init__(self) -> None:
        self._going: Counter[str] = Counter()

    async def take(self, request: Request) -> Response:
        """Answer with the id of the new run, or with an error message."""
        visitor = told(request.headers.getlist(VISITOR))
        stream = request.stream()
        answer = await self._answer(request, stream, visitor)
        if answer.status_code != 200:
            await _let_pass(stream, server.the_runner().limits.upload_bytes)
        return answer

    async def _answer(self, request: Request, stream: AsyncGenerator[bytes, None], visitor: Who) -> Response:
        """Answer a request; a visitor without the right to upload gets no slot."""
        try:
            visitor.require_change()
        except AccessError as error:
            return _refused(403, str(error))
        if not self._has_room(visitor.name):
            return _refused(503, BUSY)
        self._going[visitor.name] += 1
        try:
            return await _stored(request, stream, visitor)
        finally:
            self._going[visitor.name] -= 1
            # A guest can have any number of names, so remove names without uploads.
            self._going += Counter()

    def _has_room(self, name: str) -> bool:
        guests = self._going.total() - self._going[""]
        return self._going[name] < MOST_AT_ONCE and (not name or guests < MOST_OF_GUESTS)


async def _stored(request: Request, stream: AsyncGenerator[bytes, None], visitor: Who) -> Response:
    runner = server.the_runner()
    try:
        expected = int(request.headers.get("content-length", "0"))
        await run_in_threadpool(runner.expect_log, expected, visitor.name)
        with TemporaryFile(dir=runner.store.runs_dir) as file:
            await _receive(stream, file, runner, visitor)
            file.seek(0)
            name = request.query_params.get("name", "log")
            profiled = request.query_params.get("profile_of", "")
            if profiled:
                run = await run_in_threadpool(actions.add_profile, profiled, file, visitor)
            else:
                run = await run_in_threadpool(actions.add_log, name, file, visitor)
    except AccessError as error:
        return _refused(403, str(error))
    except (CompileboardError, ValueError) as error:
        return _refused(400, str(error))
    except OSError as error:
        return _refused(507, DISK_FULL if error.errno == errno.ENOSPC else f"The log was not stored: {error.strerror}.")
    except (ClientDisconnect, TimeoutError):
        return _refused(400, "The upload was interrupted.")
    except TooSlow:
        return _refused(408, TOO_SLOW)
    return JSONResponse({"run": run.id})


async def _receive(stream: AsyncGenerator[bytes, None], file: BinaryIO, runner: Runner, visitor: Who) -> None:
    """Write a stream to a file in large pieces, since each write takes a thread; raises TooSlow."""
    size, waiting, began_s = 0, bytearray(), time.monotonic()
    async for chunk in _chunks(stream):
        size += len(chunk)
        check_upload(runner.limits, size)
        if visitor.name and is_too_slow(size, time.monotonic() - began_s):
            raise TooSlow
        waiting += chunk
        if len(waiting) >= WRITTEN_AT_ONCE:
            await run_in_threadpool(file.write, bytes(waiting))
            waiting.clear()
    await run_in_threadpool(file.write, bytes(waiting))
    await run_in_threadpool(file.flush)


def is_too_slow(size: int, passed_s: float) -> bool:
    """Return True if an upload of `size` bytes in `passed_s` seconds is too slow or takes too long."""
    return passed_s > LONGEST_S or (passed_s > LENIENT_S and size < LEAST_BYTES_PER_S * passed_s)


async def _chunks(stream: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """Yield the chunks of a stream; raises TimeoutError if no chunk arrives in time."""
    while True:
        async with asyncio.timeout(SILENCE_S):
            chunk = await anext(stream, None)
        if chunk is None:
            return
        yield chunk


async def _let_pass(stream: AsyncGenerator[bytes, None], most_bytes: int) -> None:
    """Read the rest of a refused upload, up to `most_bytes` and for `REFUSED_S` seconds.

    A browser reads the response only after it has sent the whole upload.
    """
    with suppress(ClientDisconnect, TimeoutError):
        async with asyncio.timeout(REFUSED_S):
            async for chunk in _chunks(stream):
                most_bytes -= len(chunk)
                if most_bytes < 0:
                    return


def _refused(status: int, words: str) -> Response:
    return JSONResponse({"problem": words}, status)
