"""Faster page loads: browser libraries are preloaded with the first page, and the theme is read once.

Streamlit makes the message with the theme of `.streamlit/config.toml` anew for each run of each page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from pages.gate.middleware import is_page

SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"
# Scripts for charts and highlighted code; Streamlit's other scripts are small.
LARGE = ("PlotlyChart", "StreamlitSyntaxHighlighter")


def links() -> str:
    """Return a `Link` header. Addresses are relative to the page, since a proxy may add a path prefix."""
    found = sorted(path.name for name in LARGE for path in SCRIPTS.glob(f"{name}.*.js"))
    return ", ".join(f"<static/js/{name}>; rel=modulepreload; fetchpriority=low" for name in found)


class Ahead:
    """Middleware that adds the header to pages. Plain ASGI, since it must not buffer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._links = links().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the header to a page."""

        async def send_ahead(message: Message) -> None:
            if message["type"] == "http.response.start" and is_page(message["headers"]):
                message["headers"] = [*message["headers"], (b"link", self._links)]
            await send(message)

        await self.app(scope, receive, send_ahead if scope["type"] == "http" else send)


class Fill(Protocol):
    """A function that fills a message with a section of the theme."""

    def __call__(self, msg: CustomThemeConfig, section: str = "theme") -> None:
        """Set the message's fields to the section's options."""


def filled_once(fill: Fill) -> Fill:
    """Return a function that fills a message with a section of the theme as `fill` does, but reads it once."""

    @cache
    def theme(section: str) -> CustomThemeConfig:
        made = CustomThemeConfig()
        fill(made, section)
        return made

    def filled(msg: CustomThemeConfig, section: str = "theme") -> None:
        if (made := theme(section)).ByteSize():
            msg.MergeFrom(made)

    return filled


def read_theme_once() -> None:
    """Have Streamlit read the theme once; call it when the server starts."""
    app_session._populate_theme_msg = filled_once(app_session._populate_theme_msg)
