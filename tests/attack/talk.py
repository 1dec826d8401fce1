"""A visitor without a browser: Streamlit's messages over its WebSocket, written and read by hand."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets import Origin
from websockets.sync.client import ClientConnection, connect

from tests.support.browser import Server

LIMIT_S = 120.0
SHOWN = {"alert": "body", "markdown": "body", "heading": "body", "toast": "body", "exception": "message"}


class Visitor:
    """One session: what it sends, and what it is told."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, message: BackMsg) -> None:
        self.connection.send(message.SerializeToString())

    def rerun(self, query: str = "", *states: WidgetState, **fields: Any) -> None:
        """Ask for the page again; `fields` are those of ClientState."""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.widget_states.CopyFrom(WidgetStates(widgets=states))
        for name, value in fields.items():
            setattr(message.rerun_script, name, value)
        self.send(message)

    def told(self, limit_s: float = LIMIT_S) -> ForwardMsg:
        """The next message of the server's; raises TimeoutError."""
        message = ForwardMsg()
        message.ParseFromString(self.connection.recv(timeout=limit_s))
        return message

    def until(self, condition: Callable[[ForwardMsg], bool], limit_s: float = LIMIT_S) -> list[ForwardMsg]:
        """All messages up to the first that is waited for; raises TimeoutError."""
        found: list[ForwardMsg] = []
        end = time.monotonic() + limit_s
        while not found or not condition(found[-1]):
            if time.monotonic() > end:
                raise TimeoutError("the server did not say it")
            found.append(self.told(limit_s))
        return found

    def page(self, query: str = "", *states: WidgetState, **fields: Any) -> list[Element]:
        """The elements of a page, drawn once to its end."""
        self.rerun(query, *states, **fields)
        return [element for message in self.until(is_finished) if (element := element_of(message)) is not None]

    def hang_up(self) -> None:
        """Be gone at once, without a word."""
        self.connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.socket.close()


@contextmanager
def talking(server: Server, **headers: str) -> Iterator[Visitor]:
    """A session of a page of ours, with more headers."""
    url = server.url.replace("http", "ws", 1) + "/_stcore/stream"
    options: dict[str, Any] = {"max_size": None, "proxy": None, "compression": None}
    with connect(url, origin=Origin(server.url), additional_headers=headers, **options) as connection:
        yield Visitor(connection)


def is_finished(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "script_finished"


def element_of(message: ForwardMsg) -> Element | None:
    """The element that a message draws, None if it draws none."""
    drawn = message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element"
    return message.delta.new_element if drawn else None


def id_of(element: Element | None, name: str) -> str:
    """The id of a widget, if it is the one of this key or label; else nothing."""
    inner = getattr(element, element.WhichOneof("type") or "", None) if element else None
    found = str(getattr(inner, "id", ""))
    return found if found.endswith(f"-{name}") or getattr(inner, "label", None) == name else ""


def widget(elements: list[Element], name: str) -> str:
    """The id of the widget of a key or a label."""
    return next(found for element in elements if (found := id_of(element, name)))


def pressed(name: str) -> WidgetState:
    """The state of a button that is pressed."""
    return WidgetState(id=name, trigger_value=True)


def words(elements: list[Element]) -> str:
    """What a page says, as Markdown."""
    found = ((element, SHOWN.get(element.WhichOneof("type") or "")) for element in elements)
    return "\n".join(
        str(getattr(getattr(element, element.WhichOneof("type") or ""), name)) for element, name in found if name
    )
