"""Preloading of browser libraries with the first page, so that the first chart does not wait for them."""

from __future__ import annotations

from pathlib import Path

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
