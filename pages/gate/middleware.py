"""The gate as ASGI: it refuses requests before Streamlit, turns the secret into a cookie, and names the visitor to
pages.

A guest is recognised by a cookie, so that their runs are theirs; the cookie grants no other right.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.gate.messages import MOST_BYTES, MOST_BYTES_WITHOUT_CODE, heeded
from pages.gate.peer import uid_of
from pages.gate.rules import Refusal, Rules, Visitor, VisitorRequest

# A name that nobody can guess, so that a request that bypasses the gate cannot claim to be the owner's.
VISITOR = f"x-compileboard-visitor-{secrets.token_hex(8)}"
TOKEN = "token"
FORWARDED = {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
PAGE_SCHEMES = {"ws": "http", "wss": "https"}
POLICY_VIOLATION = 1008
NAME = re.compile(r"[A-Za-z0-9_-]{32}")
KNOWN_S = 365 * 86_400

Headers = Iterable[tuple[bytes, bytes]]


class Gate:
    """Middleware that lets a request pass if the rules allow it. Plain ASGI, since it must not buffer."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app = app
        self.rules = rules
        self._most_bytes = MOST_BYTES if rules.code else MOST_BYTES_WITHOUT_CODE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass, else pass it on with its visitor."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = read(scope)
        refused = self.rules.refusal(asked)
        if refused is not None:
            await _refuse(refused, scope, send)
        elif asked.method == "GET" and asked.token and self.rules.is_secret(asked.token):
            await _answer(303, self._exchange(asked, scope), b"", send)
        else:
            answer = _naming(scope, asked, send) if self._is_new(asked) else send
            heard = heeded(receive, self._most_bytes) if scope["type"] == "websocket" else receive
            await self.app({**scope, "headers": self._told(asked, scope["headers"])}, heard, answer)

    def _is_new(self, request: VisitorRequest) -> bool:
        """Return True if the visitor is a guest without a name."""
        return request.method == "GET" and not request.name and self.rules.visitor(request) is Visitor.GUEST

    def _told(self, request: VisitorRequest, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Return the headers with the visitor; a visitor's own header of that name is dropped."""
        mark = VISITOR.encode()
        kept = [(name, value) for name, value in headers if name.lower() != mark]
        return [*kept, (mark, self.rules.mark(request).encode())]

    def _exchange(self, request: VisitorRequest, scope: Scope) -> Headers:
        """Return the redirect to the address without the secret; relative, since a proxy may have removed a part of the
        path.
        """
        rest = urlencode([pair for pair in _query(scope) if pair[0] != TOKEN])
        secure = "; Secure" if request.scheme == "https" else ""
        cookie = (
            f"{_cookie_name(scope)}={self.rules.cookie_for(request.uid)}; Path=/; HttpOnly; SameSite=Strict{secure}"
        )
        return [
            (b"location", f"?{rest}".encode()),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
        ]


def read(scope: Scope) -> VisitorRequest:
    """Return the request's own data (host, origin, cookies), and the user id of its sender as the kernel reports it."""
    headers = [(name.lower(), value) for name, value in scope["headers"]]
    client, server = scope.get("client"), scope.get("server")
    passed_on = _values(headers, b"x-forwarded-proto")
    scheme = passed_on[0].partition(",")[0].strip() if passed_on else scope["scheme"]
    return VisitorRequest(
        method=scope.get("method", "WEBSOCKET"),
        path=scope["path"],
        hosts=_values(headers, b"host"),
        origins=_values(headers, b"origin"),
        scheme=PAGE_SCHEMES.get(scheme, scheme),
        uid=uid_of(tuple(client), tuple(server)) if client and server and client[1] and server[1] else None,
        here=server[0] if server else "",
        forwarded=any(name in FORWARDED for name, _ in headers),
        token=dict(_query(scope)).get(TOKEN, ""),
        cookie=_cookie(_values(headers, b"cookie"), _cookie_name(scope)),
        name=_name(_cookie(_values(headers, b"cookie"), _name_cookie(scope))),
    )


def _naming(scope: Scope, request: VisitorRequest, send: Send) -> Send:
    """Set a name cookie along with a page; not with files, since proxies share them.

    The cookie is Lax, since a browser that follows a link from elsewhere must not get a second name.
    """
    secure = "; Secure" if request.scheme == "https" else ""
    cookie = (
        f"{_name_cookie(scope)}={secrets.token_urlsafe(24)}; Path=/; Max-Age={KNOWN_S}; HttpOnly; SameSite=Lax{secure}"
    )

    async def name(message: Message) -> None:
        if message["type"] == "http.response.start" and is_page(message["headers"]):
            message["headers"] = [*message["headers"], (b"set-cookie", cookie.encode())]
        await send(message)

    return name


def is_page(headers: Headers) -> bool:
    """Return True if a response is an HTML page rather than a file."""
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in headers)


def _name(cookie: str) -> str:
    """Return the guest's name in a cookie; empty if the cookie is not ours."""
    return cookie if NAME.fullmatch(cookie) else ""


def _name_cookie(scope: Scope) -> str:
    return f"{_cookie_name(scope)}-visitor"


def _values(headers: Headers, name: bytes) -> tuple[str, ...]:
    return tuple(value.decode("latin-1") for found, value in headers if found == name)


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _cookie_name(scope: Scope) -> str:
    """Return the cookie's name, which contains the port: cookies ignore ports, so each dashboard of a host needs its
    own.
    """
    return f"compileboard-{(scope.get('server') or ('', 0))[1]}"


def _cookie(headers: tuple[str, ...], name: str) -> str:
    return next((found[name] for found in map(cookie_parser, headers) if name in found), "")


async def _refuse(refused: Refusal, scope: Scope, send: Send) -> None:
    """Refuse a request; a handshake that is closed before it is accepted is answered with 403."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})
    else:
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
        await _answer(refused.status, headers, refused.words.encode(), send)


async def _answer(status: int, headers: Headers, body: bytes, send: Send) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
