"""Middleware before Streamlit: redirects of mistyped addresses, and preloading of browser libraries.

Streamlit answers every path that is not a file with the same document. That document neither names the missing page nor
links to others, and below a second `/` it does not find its scripts.

`read_theme_once` caches the theme, which Streamlit otherwise reads from its configuration in each run of each page.
"""

from functools import cache
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlencode

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from pages.gate.middleware import is_page
from pages.menu import NEW_RUN, PAGES, RENAMED

# The query parameter with the name of the missing page.
MISSING = "missing"


def leads_to(path: str, query: str) -> str | None:
    """Return the address to redirect to, relative to the requested path; None if the path is correct.

    The path is below the server's own path; the first page has the empty path. Case and separators between words are
    ignored, and earlier names of pages still work.
    """
    parts = path.split("/")
    asked = [part for part in parts if part]
    if not asked:
        return None
    name = asked[-1].lower().replace("-", "_").replace(" ", "_")
    page = PAGES.get(name) or RENAMED.get(name)
    if page is not None and page is not NEW_RUN and path == f"/{page.name}":
        return None
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != MISSING]
    if page is None:
        pairs.append((MISSING, asked[-1]))
    up = "../" * (len(parts) - 2) or "./"
    here = "" if page is None or page is NEW_RUN else page.name
    return f"{up}{here}" + (f"?{urlencode(pairs)}" if pairs else "")


class Addresses:
    """Middleware that redirects mistyped addresses. Plain ASGI, since it must not buffer."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self._base = base.strip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; redirect if the response is a document but no page has the path."""
        target = self._target(scope) if scope["type"] == "http" else None
        if target is None:
            await self.app(scope, receive, send)
            return
        left = False

        async def send_on(message: Message) -> None:
            nonlocal left
            if message["type"] == "http.response.start" and is_page(message["headers"]):
                left = True
                headers = [(b"location", target.encode()), (b"cache-control", b"no-store"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 307, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
            elif not left:
                await send(message)

        await self.app(scope, receive, send_on)

    def _target(self, scope: Scope) -> str | None:
        path = scope["path"]
        if self._base:
            path = path.removeprefix(f"/{self._base}")
        return leads_to(path, scope.get("query_string", b"").decode("latin-1"))


SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"
# Scripts for charts and highlighted code; Streamlit's other scripts are small.
LARGE = ("PlotlyChart", "StreamlitSyntaxHighlighter")


def links() -> str:
    """Return a `Link` header that preloads Streamlit's large scripts, relative to the page."""
    found = sorted(path.name for name in LARGE for path in SCRIPTS.glob(f"{name}.*.js"))
    return ", ".join(f"<static/js/{name}>; rel=modulepreload; fetchpriority=low" for name in found)


class Ahead:
    """Middleware that adds the `Link` header to pages. Plain ASGI, since it must not buffer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._links = links().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the header to the response if it is a page."""

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
    """Return a function like `fill` that reads each section of the theme only once."""

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
