"""A GET of one of our routes, without a server."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from tests.support.loops import run_async


def get(routes: Sequence[BaseRoute], path: str, accept: str = "", **query: object) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": urlencode(query).encode(),
        "headers": [(b"accept-encoding", accept.encode())],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    run_async(Starlette(routes=routes)(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])
