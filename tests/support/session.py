"""A visitor's browser tab without a browser: Streamlit's messages over its WebSocket, as the page's own client sends
them.

What a browser draws, and the files that it keeps, are left out; the server is asked for everything else that a tab asks
for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

PAGE_LIMIT_S = 120.0
# A page that is drawn in one go, and not a fragment of it or the part before a switch to another.
DRAWN = ForwardMsg.FINISHED_SUCCESSFULLY
BROKEN = ForwardMsg.FINISHED_WITH_COMPILE_ERROR


class PageFailed(Exception):
    """A page raised, or was not drawn within its time."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at a page: how long it took to be drawn, and the bytes that came."""

    page: str
    seconds: float
    size: int


@asynccontextmanager
async def session(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[Session]:
    """Open a tab, and close it as a visitor does who leaves."""
    parts = urlsplit(url)
    own = {"Origin": f"{parts.scheme}://{parts.netloc}", **(headers or {})}
    address = f"ws://{parts.netloc}{parts.path}/_stcore/stream"
    async with connect(
        address, additional_headers=own, subprotocols=[Subprotocol("streamlit")], max_size=None, compression=None
    ) as stream:
        tab = Session(stream)
        reader = asyncio.create_task(tab.read())
        try:
            yield tab
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await reader


class Session:
    """A tab: what it has been told, and what it can do."""

    def __init__(self, stream: ClientConnection) -> None:
        self._stream = stream
        self._ended: asyncio.Queue[int] = asyncio.Queue()
        self._hashes: set[str] = set()
        self._size = 0
        self._script = ""
        self.page = ""
        self.query = ""
        self.widgets: dict[str, str] = {}
        self.polled: dict[str, float] = {}
        self.problems: list[str] = []

    async def read(self) -> None:
        """Take what the server sends, until the tab is closed."""
        try:
            async for data in self._stream:
                if isinstance(data, bytes):
                    self._size += len(data)
                    self._take(ForwardMsg.FromString(data))
        finally:
            self.problems.append("the connection has ended")
            self._ended.put_nowait(BROKEN)

    async def visit(self, page: str, **query: str) -> Visit:
        """Go to a page of the menu."""
        self.page, self.query = page, urlencode(query)
        asked = self._rerun()
        asked.rerun_script.page_script_hash = ""
        asked.rerun_script.page_name = page
        return await self._drawn(asked)

    async def press(self, key: str) -> Visit:
        """Press a button by its key, and wait for the page that follows."""
        if key not in self.widgets:
            raise PageFailed(f"{self.page}: there is no button {key}")
        asked = self._rerun()
        asked.rerun_script.widget_states.widgets.add(id=self.widgets[key], trigger_value=True)
        return await self._drawn(asked)

    async def poll(self, seconds: float) -> None:
        """Stay on the page for a while; its fragments ask anew as often as they were told to."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, *self.polled.values(), 1.0))
            for fragment in list(self.polled):
                asked = self._rerun()
                asked.rerun_script.fragment_id = fragment
                asked.rerun_script.is_auto_rerun = True
                await self._stream.send(asked.SerializeToString())

    def _rerun(self) -> BackMsg:
        asked = BackMsg()
        asked.rerun_script.page_script_hash = self._script
        asked.rerun_script.query_string = self.query
        asked.rerun_script.cached_message_hashes.extend(self._hashes)
        return asked

    async def _drawn(self, asked: BackMsg) -> Visit:
        self._size, start = 0, time.monotonic()
        self.polled.clear()
        self.widgets.clear()
        while not self._ended.empty():
            self._ended.get_nowait()
        await self._stream.send(asked.SerializeToString())
        try:
            async with asyncio.timeout(PAGE_LIMIT_S):
                while (status := await self._ended.get()) not in (DRAWN, BROKEN):
                    pass
        except TimeoutError:
            raise PageFailed(f"{self.page}: not drawn in {PAGE_LIMIT_S:.0f} s") from None
        if status == BROKEN or self.problems:
            raise PageFailed(f"{self.page}: {'; '.join(self.problems) or 'its script does not compile'}")
        return Visit(self.page, time.monotonic() - start, self._size)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if message.metadata.cacheable and kind != "ref_hash":
            self._hashes.add(message.hash)
        if kind == "script_finished":
            self._ended.put_nowait(message.script_finished)
        elif kind == "new_session":
            self._script = message.new_session.page_script_hash
        elif kind == "auto_rerun":
            self.polled[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self.polled.pop(fragment, None)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            self.problems.append("there is no such page")
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._note(message.delta.new_element)

    def _note(self, element: Any) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.problems.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "button":
            self.widgets[element.button.id.split("-", 2)[-1]] = element.button.id
