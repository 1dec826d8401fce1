"""Uploads directly to disk, without partial files, and downloads: the log, the report, the page's content as text.

Streamlit's own upload would keep the file in memory as long as the session exists.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import pandas as pd
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from streamlit.delta_generator import DeltaGenerator

from core import AccessError, CompileboardError, Run, Runner, as_json, check_upload, package_files
from core.base import words as fmt
from core.views import scrub
from core.views.run_files import RunFiles
from pages.gate.middleware import VISITOR
from pages.gate.visitor import Who, told
from pages.look.text import code
from pages.session import actions, server
from pages.session.actions import attempt
from pages.session.server import cached

# Simultaneous uploads of one visitor, and of all guests. The owner's count separately, so that guests can't block them.
MOST_AT_ONCE = 4
MOST_OF_GUESTS = 16
SILENCE_S = 60.0
# A guest's upload that is slower than this after LENIENT_S is ended, so that it does not block its slot.
LEAST_BYTES_PER_S = 10_000
LENIENT_S = 20.0
LONGEST_S = 1_200.0
REFUSED_S = 10.0
WRITTEN_AT_ONCE = 1 << 20
TOO_SLOW = "The upload was too slow and was stopped; nothing was stored."
BUSY = "Too many uploads at the moment; try again soon."
DISK_FULL = "The disk of this server is full; the log was not stored."


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
    """Write the incoming chunks in large pieces, since each write takes a thread."""
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
    """Return True if `size` bytes in `passed_s` seconds are below the minimum rate."""
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
    """Read the rest of the upload up to a limit, since a browser reads the response only after it has sent all."""
    with suppress(ClientDisconnect, TimeoutError):
        async with asyncio.timeout(REFUSED_S):
            async for chunk in _chunks(stream):
                most_bytes -= len(chunk)
                if most_bytes < 0:
                    return


def _refused(status: int, words: str) -> Response:
    return JSONResponse({"problem": words}, status)


PACKAGE = ".pt2"
# Streamlit keeps downloads in memory; larger ones are available on the command line.
MOST_DOWNLOADED_BYTES = 256 * 1024**2


def log_download(run: Run, key: str | None = None) -> None:
    """Draw the download of the TORCH_TRACE log, which tlparse reads."""
    log = run.log_path()
    if log is not None:
        st.download_button(
            "Log",
            log.read_bytes,
            f"{run.id}.log",
            "text/plain",
            icon=":material/download:",
            on_click="ignore",
            key=key,
        )


def report_download(run: Run, key: str | None = None) -> None:
    """Draw the download of the whole report as JSON."""
    if run.log_path() is not None:
        st.download_button(
            "Report",
            RunFiles(run).report_json,
            f"{run.id}.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            key=key,
        )


def html_download(run: Run) -> None:
    """Draw the download of a run as one HTML file, and of its bug report, with the choice of what to scrub."""
    if run.log_path() is None:
        return
    with st.popover("Export", icon=":material/ios_share:", help="The run as one file that opens without a server"):
        scrubber = scrub_choice("export", run)
        if scrubber is None:
            return
        files = RunFiles(run)
        st.download_button(
            "HTML",
            lambda: files.html(scrubber),
            f"{run.id}.html",
            "text/html",
            icon=":material/html:",
            on_click="ignore",
            key=f"html-{run.id}",
            help="Findings, graphs, code, guards and charts in one file",
        )
        if files.has_debug_files:
            st.download_button(
                "Debug files",
                lambda: files.debug_zip(scrubber),
                f"{run.id}-debug.zip",
                "application/zip",
                icon=":material/folder_zip:",
                on_click="ignore",
                key=f"debug-{run.id}",
                help="The files of TORCH_COMPILE_DEBUG=1, as far as they were recorded",
            )


def comparison_download(left: Run, right: Run) -> None:
    """Draw the download of two runs' comparison as one HTML file, with the choice of what to scrub."""
    with st.popover("Export", icon=":material/ios_share:", help="Both runs as one file that opens without a server"):
        scrubber = scrub_choice("compare", left, right)
        if scrubber is None:
            return
        st.download_button(
            "HTML",
            lambda: RunFiles(left).comparison_html(right, scrubber),
            f"{left.id}-{right.id}.html",
            "text/html",
            icon=":material/html:",
            on_click="ignore",
            key=f"compare-html-{left.id}-{right.id}",
            help="Verdicts, differences, graphs, kernels, guards and times in one file",
        )


def scrub_choice(place: str, run: Run, right: Run | None = None) -> scrub.Scrubber | None:
    """Let the visitor choose what a file of a run, or of two, leaves out, and show what is replaced.

    None if a log is too large to look through, which is shown.
    """
    ids = tuple(each.id for each in (run, right) if each is not None)
    kinds = st.pills(
        "Replace by placeholders", list(scrub.KINDS), selection_mode="multi", key=f"scrub-{place}-{'-'.join(ids)}"
    )
    sizes = tuple(path.stat().st_size for each in (run, right) if each is not None and (path := each.log_path()))
    scrubber = attempt(lambda: _scrubber(ids, tuple(kinds), sizes, run, right))
    for line in scrubber.preview if scrubber is not None else ():
        st.caption(code(line))
    return scrubber


@cached()
def _scrubber(
    ids: tuple[str, ...], kinds: tuple[scrub.Kind, ...], log_bytes: tuple[int, ...], _run: Run, _right: Run | None
) -> scrub.Scrubber:
    return RunFiles(_run).scrubber(kinds, _right)


def perfetto_download(run: Run) -> None:
    """Draw the download of a run as a trace for ui.perfetto.dev."""
    st.download_button(
        "Perfetto",
        RunFiles(run).perfetto,
        f"{run.id}.perfetto.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        help="Phases, kernels and memory of the run as a trace that ui.perfetto.dev opens",
    )


def package_download(run: Run) -> None:
    """Draw the download of a run's package, to load it elsewhere."""
    package = next((path for path in package_files(run) if path.suffix == PACKAGE), None)
    size = package.stat().st_size if package else 0
    if package is None or size > MOST_DOWNLOADED_BYTES:
        return
    st.download_button(
        "Package",
        package.read_bytes,
        package.name,
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        help=f"{package.name}, {fmt.bytes_(size)}: for `aoti_load_package` and `AOTIModelPackageLoader`",
    )


def downloads() -> DeltaGenerator:
    """Draw a compact menu of downloads."""
    return st.popover("", icon=":material/download:", help="What this page shows, as a file")


def json_twin(name: str, value: Any, *, key: str) -> None:
    """Draw a button that downloads the page's content as JSON; `value` may be a function, called on the click."""
    st.download_button(
        "JSON",
        lambda: as_json(value() if callable(value) else value),
        f"{name}.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        key=f"json-{key}",
        help="What this page shows, as JSON",
    )


def csv_twin(name: str, make: Callable[[], str], *, key: str) -> None:
    """Draw a button that downloads the page's table as CSV for a spreadsheet."""
    st.download_button(
        "CSV",
        make,
        f"{name}.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=f"csv-{key}",
        help="The table of this page, for a spreadsheet",
    )


def frame_twin(name: str, frame: pd.DataFrame, *, key: str) -> None:
    """Draw a button that downloads a pandas table as CSV; its texts may come from a log."""
    csv_twin(name, lambda: frame_as_csv(frame), key=key)


def frame_as_csv(frame: pd.DataFrame) -> str:
    """Return a table as CSV for a spreadsheet; text that looks like a formula is escaped."""
    plain = frame.map(fmt.spreadsheet_cell).rename(columns=fmt.spreadsheet_cell)
    return str(plain.to_csv(index=False))


def text_twin(name: str, text: str | Callable[[], str], *, key: str) -> None:
    """Draw a button that downloads the page's content as text; `text` may be a function, called on the click."""
    st.download_button(
        "Text", text, f"{name}.txt", "text/plain", icon=":material/download:", on_click="ignore", key=f"text-{key}"
    )
