"""The gate as ASGI middleware: identifies visitors, refuses requests, filters WebSocket messages.

It exchanges the secret for a cookie, and passes the visitor on in a header. A cookie identifies a guest, so that guests
own their runs; it grants no other right. Where people sign in, the cookie of their sign-in identifies them, and the
owner's file of roles grants them rights.

A page may send only some WebSocket messages; the others are for developers. For example, `clear_cache` would empty the
caches of all visitors, which contain the engine, and start a new engine.

A local visitor is the owner if the kernel reports the owner's user id at the other end of the connection. Linux's
socket diagnosis (`sock_diag(7)`) finds one connection directly. If it is not available, the code reads `/proc/net/tcp`
and `tcp6` (`proc_pid_net(5)`), which list all connections.
"""

import errno
import os
import re
import secrets
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode

from google.protobuf.message import DecodeError
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from pages.gate.people import People
from pages.gate.rules import SAFE_METHODS, Refusal, Rules, Visitor, VisitorRequest

# A header name that cannot be guessed, so that a request that bypasses the gate cannot claim to be the owner's.
VISITOR = f"x-compileboard-visitor-{secrets.token_hex(8)}"
TOKEN = "token"
# Key of a scope for the first port of several processes.
PORT = "compileboard.port"
FORWARDED = {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
PAGE_SCHEMES = {"ws": "http", "wss": "https"}
POLICY_VIOLATION = 1008
# Seconds for a sign-in, after which the page that was wanted is forgotten.
WANTED_S = 600
MOST_WANTED_CHARS = 3_000  #: the address for after a sign-in; a longer one becomes the first page
NOT_SIGNED_IN = "The sign-in was not completed, and the log of this server says why. Reload the page to try again.\n"
NOT_ACCEPTED = "The sign-in was not completed. {} Reload the page to try again.\n"
# A path of this server: no other host, and nothing that ends a header.
OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")
NAME = re.compile(r"[A-Za-z0-9_-]{32}")
KNOWN_S = 365 * 86_400
Headers = Iterable[tuple[bytes, bytes]]
# The preview of a link for a visitor without a role, with the address of the sign-in; None if there is none.
Preview = Callable[[Scope, str], Awaitable[Response | None]]
HEEDED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "backend_operation_request"})
# Streamlit's other operations install files for developers.
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
# Visitors who may run code can send a file of code; others only select, and type short texts.
MOST_BYTES = 8_000_000  #: limit: a message of a browser
MOST_BYTES_WITHOUT_CODE = 256_000  #: limit: a message of a browser, where code is not allowed
MOST_QUERY_CHARS = 20_000  #: query parameters of a message
MOST_WIDGETS = 2_000  #: widgets in a message
# Names of widgets that Streamlit draws. Streamlit would look up any other name, and print it with an error to the
# owner's terminal.
MESSAGE_NAME = re.compile(r"[\w.-]{0,200}")
WIDGET = re.compile(r"(\$\$STREAMLIT_INTERNAL_KEY_)?\$\$ID-[0-9a-f]{32}-[^\x00-\x1f\x7f-\x9f]{1,2000}")


class Gate:
    """Middleware that passes a request on if the rules allow it. Plain ASGI, since it must not buffer."""

    def __init__(
        self, app: ASGIApp, rules: Rules, people: People | None = None, preview: Preview | None = None
    ) -> None:
        self.app = app
        self._preview = preview
        self.rules = rules
        self.people = people
        self._most_bytes = MOST_BYTES if rules.code else MOST_BYTES_WITHOUT_CODE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with its visitor."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope = {**scope, PORT: self.rules.group}
        asked = self._signed_in(read(scope), scope)
        refused = self.rules.refusal(asked)
        if refused is not None and refused.of_visitor and (shown := await self._previewed(refused, asked, scope)):
            await shown(scope, receive, send)
        elif refused is not None and refused.may_sign_in and self.people and _wants_page(scope):
            await self._sign_in(asked, scope, send, self.people)
        elif refused is not None:
            await _refuse(refused, scope, send)
        elif self.people and asked.method == "GET" and (wanted := self._wanted(asked, scope)):
            await _answer(303, [(b"location", wanted.encode()), _forgotten(scope)], b"", send)
        elif asked.method == "GET" and asked.token and self.rules.is_secret(asked.token):
            await _answer(303, self._exchange(asked, scope), b"", send)
        else:
            answer = _naming(scope, asked, send) if self._is_new(asked) else send
            heard = heeded(receive, self._most_bytes) if scope["type"] == "websocket" else receive
            await self.app({**scope, "headers": self._told(asked, scope["headers"])}, heard, answer)

    async def _previewed(self, refused: Refusal, request: VisitorRequest, scope: Scope) -> Response | None:
        """Return the preview of a link with a run's token for a refused visitor; None if there is none.

        If signing in may help, the preview links to the sign-in.
        """
        if self._preview is None or request.method != "GET":
            return None
        people = self.people if refused.may_sign_in else None
        shown = await self._preview(scope, f"{self.rules.base}{people.sign_in_path()}" if people else "")
        if shown is not None and people and shown.media_type == "text/html":
            headers = self._to_sign_in(request, scope, people)
            shown.raw_headers += [(name, value) for name, value in headers if name == b"set-cookie"]
        return shown

    def _signed_in(self, request: VisitorRequest, scope: Scope) -> VisitorRequest:
        """Return the request with the person who has signed in; unchanged on a server without sign-in."""
        return replace(request, person=self.people.person(_cookies(scope))) if self.people else request

    async def _sign_in(self, request: VisitorRequest, scope: Scope, send: Send, people: People) -> None:
        """Redirect a browser to the sign-in.

        A browser that returns from it without being signed in is refused instead, with the reason.
        """
        if _wanted_cookie(scope) in _cookies(scope):
            problem = people.problem(_cookies(scope))
            reason = NOT_ACCEPTED.format(problem) if problem else NOT_SIGNED_IN
            await _refuse(Refusal(401, reason), scope, send, [_forgotten(scope)])
        else:
            await _answer(303, self._to_sign_in(request, scope, people), b"", send)

    def _to_sign_in(self, request: VisitorRequest, scope: Scope, people: People) -> Headers:
        """Return the headers of a redirect to the sign-in, with a cookie that stores the requested page."""
        query = scope.get("query_string", b"").decode("latin-1")
        wanted = quote(f"{request.path}?{query}" if query else request.path)
        secure = "; Secure" if request.scheme == "https" else ""
        wanted = wanted if len(wanted) <= MOST_WANTED_CHARS else "/"
        cookie = f"{_wanted_cookie(scope)}={wanted}; Path=/; Max-Age={WANTED_S}; HttpOnly; SameSite=Lax{secure}"
        return [
            (b"location", f"{self.rules.base}{people.sign_in_path()}".encode()),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
        ]

    def _wanted(self, request: VisitorRequest, scope: Scope) -> str:
        """Return the page requested before the sign-in; empty if there is none.

        A sign-in ends at the server's first page, so only a request for that page is redirected.
        """
        wanted = unquote(_cookies(scope).get(_wanted_cookie(scope), ""))
        is_first = request.path.rstrip("/") == self.rules.base and not scope.get("query_string")
        return wanted if is_first and OWN_PATH.fullmatch(wanted) else ""

    def _is_new(self, request: VisitorRequest) -> bool:
        """Return True if the visitor is a guest without a name, where people do not sign in."""
        return (
            not self.people
            and request.method == "GET"
            and not request.name
            and self.rules.visitor(request) is Visitor.GUEST
        )

    def _told(self, request: VisitorRequest, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Return the request headers with our visitor header; a visitor header from the browser is dropped."""
        mark = VISITOR.encode()
        kept = [(name, value) for name, value in headers if name.lower() != mark]
        return [*kept, (mark, self.rules.mark(request).encode())]

    def _exchange(self, request: VisitorRequest, scope: Scope) -> Headers:
        """Return the headers of a redirect to the address without the secret, with the secret's cookie.

        The address is relative, since a proxy may remove a path prefix.
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
    """Return the request's data (host, origin, cookies), and its sender's user id from the kernel."""
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
        token=dict(_query(scope)).get(TOKEN, "") or _bearer(scope, headers),
        cookie=_cookie(_values(headers, b"cookie"), _cookie_name(scope)),
        name=_name(_cookie(_values(headers, b"cookie"), _name_cookie(scope))),
    )


def _naming(scope: Scope, request: VisitorRequest, send: Send) -> Send:
    """Return a `send` that sets a name cookie in the response of a page.

    Responses with files get no cookie, since proxies may cache a file for several visitors. The cookie is Lax, so that
    a browser that follows a link from another site does not get a second name.
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


def _wanted_cookie(scope: Scope) -> str:
    return f"{_cookie_name(scope)}-wanted"


def _forgotten(scope: Scope) -> tuple[bytes, bytes]:
    """Return the header that removes the cookie with the requested page."""
    return b"set-cookie", f"{_wanted_cookie(scope)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax".encode()


def _wants_page(scope: Scope) -> bool:
    """Return True if a browser opens an address, not a file or a WebSocket of a page."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and any(name.lower() == b"accept" and b"text/html" in value for name, value in scope["headers"])
    )


def _cookies(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request; if several headers have the same name, the first one counts."""
    parsed: dict[str, str] = {}
    for header in _values([(name.lower(), value) for name, value in scope["headers"]], b"cookie"):
        parsed = cookie_parser(header) | parsed
    return parsed


def _values(headers: Headers, name: bytes) -> tuple[str, ...]:
    return tuple(value.decode("latin-1") for found, value in headers if found == name)


def _bearer(scope: Scope, headers: Headers) -> str:
    """Return the token in an Authorization header of a program; empty for a safe method, as a page's."""
    found = _values(headers, b"authorization") if scope.get("method", "GET") not in SAFE_METHODS else ()
    return found[0].removeprefix("Bearer ") if len(found) == 1 and found[0].startswith("Bearer ") else ""


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _cookie_name(scope: Scope) -> str:
    """Return the cookie's name, which contains the port.

    Cookies ignore ports, so each dashboard of a host needs a separate name. All processes of one dashboard use the name
    of the first process.
    """
    return f"compileboard-{scope.get(PORT) or (scope.get('server') or ('', 0))[1]}"


def _cookie(headers: tuple[str, ...], name: str) -> str:
    return next((found[name] for found in map(cookie_parser, headers) if name in found), "")


async def _refuse(refused: Refusal, scope: Scope, send: Send, more: Headers = ()) -> None:
    """Refuse a request with the status and text of the refusal.

    A WebSocket handshake is closed before it is accepted; the server then answers 403.
    """
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})
    else:
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *more]
        await _answer(refused.status, headers, refused.words.encode(), send)


async def _answer(status: int, headers: Headers, body: bytes, send: Send) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def heeded(receive: Receive, most_bytes: int = MOST_BYTES) -> Receive:
    """Return a WebSocket's receive function that drops messages too large or sent by no page."""

    async def listen() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or is_heeded(message.get("bytes"), most_bytes):
                return message

    return listen


def is_heeded(frame: bytes | None, most_bytes: int = MOST_BYTES) -> bool:
    """Return True if the frame may be passed to Streamlit.

    Text frames are no Streamlit messages. A damaged frame is passed, since Streamlit rejects it itself.
    """
    if frame is None or len(frame) > most_bytes:
        return False
    try:
        message = BackMsg.FromString(frame)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return _is_drawn_data(message.backend_operation_request)
    return kind in HEEDED and _is_drawn(message.rerun_script)


def _is_drawn_data(request: BackendOperationRequest) -> bool:
    """Return True for a page's request for a file or for table rows, with names in Streamlit's form."""
    names = (request.request_id, request.deferred_file.file_id, request.dataframe_chunk.source_id)
    return request.WhichOneof("payload") in OPERATIONS and all(MESSAGE_NAME.fullmatch(name) for name in names)


def _is_drawn(state: ClientState) -> bool:
    """Return True if the state that a browser sent is small and contains only ids of Streamlit widgets."""
    widgets = state.widget_states.widgets
    small = len(state.query_string) <= MOST_QUERY_CHARS and len(widgets) <= MOST_WIDGETS
    return small and all(WIDGET.fullmatch(widget.id) for widget in widgets)


Address = tuple[str, int]
Ip = IPv4Address | IPv6Address

ESTABLISHED = 1
# The kernel's name for a user that does not exist in this process's namespace.
OVERFLOW_UID = 65_534
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ANSWER_LIMIT_S = 0.2
# Offsets in struct inet_diag_msg of linux/inet_diag.h, after the header of 16 bytes: the state; uid and inode.
STATE_AT, UID_AT = 16 + 1, 16 + 64
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Socket:
    """The other end of a connection: its state, its process's user id, and its inode (0 if closed)."""

    state: int
    uid: int
    inode: int

    @property
    def is_open(self) -> bool:
        """True if a process has the socket open; the kernel calls root the owner of any other."""
        return self.state == ESTABLISHED and self.inode != 0


def uid_of(client: Address, server: Address) -> int | None:
    """Return the user id of the client's process; None if the kernel does not know it.

    The kernel may report root for a socket that is closed during the query. Closed sockets do not open again, so a
    socket that is open at a second query was open during the first.
    """
    first, second = _socket_between(client, server), _socket_between(client, server)
    if first is None or first != second or not first.is_open or first.uid == OVERFLOW_UID:
        return None
    return first.uid


def _socket_between(client: Address, server: Address) -> Socket | None:
    try:
        ends = (_plain(client[0]), client[1]), (_plain(server[0]), server[1])
    except ValueError:
        return None
    try:
        return _by_diagnosis(*ends)
    except OSError:
        return _by_table(*ends)


def _plain(host: str) -> Ip:
    """Return the address; an IPv4 address that an IPv6 socket reports becomes plain IPv4."""
    address = ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def _by_diagnosis(client: tuple[Ip, int], server: tuple[Ip, int]) -> Socket | None:
    """Query the socket diagnosis for one connection.

    None if the connection is not on this machine. Raises OSError if the query fails.
    """
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError("no netlink here")
    family = socket.AF_INET if client[0].version == 4 else socket.AF_INET6
    ports = struct.pack("!HH", client[1], server[1])
    ends = client[0].packed.ljust(16, b"\0") + server[0].packed.ljust(16, b"\0")
    anything = struct.pack("=III", 0, 2**32 - 1, 2**32 - 1)
    question = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 0, 1 << ESTABLISHED) + ports + ends + anything
    header = struct.pack("=IHHII", 16 + len(question), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(ANSWER_LIMIT_S)
        kernel.send(header + question)
        answer = kernel.recv(4096)
    return _read_diagnosis(answer)


def _read_diagnosis(answer: bytes) -> Socket | None:
    """Return the socket in the kernel's answer; None for "no such connection", OSError for other errors."""
    (kind,) = struct.unpack_from("=H", answer, 4)
    if kind == SOCK_DIAG_BY_FAMILY:
        return Socket(answer[STATE_AT], *struct.unpack_from("=II", answer, UID_AT))
    (error,) = struct.unpack_from("=i", answer, 16)
    if -error == errno.ENOENT:
        return None
    raise OSError(-error, os.strerror(-error))


def _by_table(client: tuple[Ip, int], server: tuple[Ip, int], tables: tuple[str, ...] = TABLES) -> Socket | None:
    """Return the socket of a connection from the kernel's tables; None if it is not in them."""
    wanted = _spellings(client, server)
    return next((found for *ends, found in _rows(tables) if tuple(ends) in wanted), None)


def _rows(tables: tuple[str, ...]) -> Iterator[tuple[str, str, Socket]]:
    for table in tables:
        try:
            lines = Path(table).read_text(encoding="ascii", errors="replace").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9:
                yield fields[1], fields[2], Socket(int(fields[3], 16), int(fields[7]), int(fields[9]))


def _spellings(client: tuple[Ip, int], server: tuple[Ip, int]) -> set[tuple[str, str]]:
    """Return both ends in the form of the tables; IPv4 also in the form of an IPv6 socket."""
    ends = {(_hex(*client), _hex(*server))}
    if client[0].version == server[0].version == 4:
        ends.add((_hex(_mapped(client[0]), client[1]), _hex(_mapped(server[0]), server[1])))
    return ends


def _mapped(address: Ip) -> Ip:
    return IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)


def _hex(address: Ip, port: int) -> str:
    """Format an address like the kernel: words of 32 bits in the machine's byte order."""
    packed = address.packed
    words = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
