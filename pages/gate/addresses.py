"""Redirects of mistyped addresses: to a page of the menu, or to the first page, which reports the unknown page.

Streamlit answers every path that is no file with the same document. That document neither names the missing page nor
links to others, and below a second `/` it does not find its scripts.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.gate.middleware import is_page
from pages.menu import NEW_RUN, PAGES, RENAMED

# The query parameter with the name of the missing page.
MISSING = "missing"


def leads_to(path: str, query: str) -> str | None:
    """Return the address to redirect to, relative to a path below the server's; None if the path is correct.

    The first page has the empty path. Case and separators between words are ignored, and earlier names of pages still
    work.
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
