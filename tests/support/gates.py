"""Rules of a gate and requests to it, on literal values, and what the gate sends."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pages.gate.middleware import Gate
from pages.gate.rules import Rules, VisitorRequest
from tests.support.loops import run_async

HOSTS = ("localhost", "127.0.0.1")
MINE = Rules(HOSTS, code=True, private=True, owner=1000, secret="s3cret")
LOOKING = replace(MINE, code=False)
PUBLIC = replace(MINE, hosts=("board.example.org", *HOSTS), code=False, private=False)
ASKED = VisitorRequest("GET", "/", ("127.0.0.1:8501",), uid=1000, here="127.0.0.1")
HANDSHAKE = replace(ASKED, method="WEBSOCKET", path="/_stcore/stream", origins=("http://127.0.0.1:8501",))
Sent = list[dict[str, Any]]


def through(rules: Rules, answered: bytes = b"text/html", **scope: Any) -> tuple[Sent, dict[str, Any] | None]:
    """What the gate sends, and the scope that it passes on; the app answers with this type of content."""
    return sent_through(lambda app: Gate(app, rules), answered, **scope)


def sent_through(wrap: Callable[[Any], Any], answered: bytes, **scope: Any) -> tuple[Sent, dict[str, Any] | None]:
    """What an app that wraps another sends, and the scope that it passes on."""
    sent: Sent = []
    passed: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", answered)]})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    basic = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "headers": [(b"host", b"127.0.0.1:8501")]}
    asked = wrap(app)({**basic, "server": ("127.0.0.1", 8501), "client": None, **scope}, receive, send)
    run_async(asked)
    return sent, passed[0] if passed else None
