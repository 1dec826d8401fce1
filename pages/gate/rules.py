"""Access rules of this server from its owner's settings, and the refusal of a request.

`Rules` checks host, origin, path and visitor.
"""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

import streamlit as st

HEALTH = "/_stcore/health"
# Streamlit's routes that a page needs. The others reveal facts about the server, control pages without a session that
# passed the gate, or store uploads in memory, unlike our upload (pages/session/uploads.py).
STREAMLITS = "_stcore"
OPEN = re.compile(rf"/{STREAMLITS}/(health|host-config|stream|bidi-components/[\w./-]+)")
# Refused in paths, since routers handle a newline at the end of a path differently.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
NOBODY = -1
NAMELESS = "nameless"
SAFE_METHODS = ("GET", "HEAD")
# Streamlit's routes of a sign-in, the only ones for visitors who have not signed in.
SIGN_IN, SIGN_OUT, SIGNED_IN = "/auth/login", "/auth/logout", "/oauth2callback"
HOST_UNKNOWN = (
    "This server does not answer to this host. Its owner names hosts in STREAMLIT_SERVER_ALLOWED_HOSTS, "
    "separated by spaces, or in .streamlit/config.toml.\n"
)
ORIGIN_FOREIGN = (
    "This request comes from a page of another address, or from a proxy that does not pass on Host and "
    "X-Forwarded-Proto.\n"
)
STRANGER = (
    "This server runs code, so only its owner may use it. If that is you, open the address with `?token=` that the "
    "server printed at its start.\n"
)
SIGN_IN_FIRST = "Sign in first: open the dashboard's address in the browser.\n"
NO_ROLE = (
    "You are signed in as {}, and the owner of this server has given this address no role. /auth/logout signs out.\n"
)
# Set by the command `dashboard --processes`: the first port, and the secret of all processes.
GROUP = re.compile(r"([0-9]{1,5}):([\w-]{32,100})")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?")


def code_allowed() -> bool:
    """Return True if this server runs a visitor's code: on loopback, or if its owner allows it."""
    said = os.environ.get("COMPILEBOARD_ALLOW_CODE")
    if said is not None:
        return said == "1"
    return (st.get_option("server.address") or "") in LOOPBACK


def known_as(name: str) -> str:
    """Return a guest's name for the store: a digest, which does not reveal the cookie."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16] if name else NAMELESS


class Visitor(Enum):
    """A kind of visitor: owner, coder, guest, onlooker or stranger.

    The owner may do everything. A coder may run code, a guest may start runs of samples, an onlooker may only
    look, and a stranger may not even look.
    """

    OWNER = "owner"
    CODER = "coder"
    GUEST = "guest"
    ONLOOKER = "onlooker"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class VisitorRequest:
    """A request: its data, and the kernel's data about its sender.

    `method` is WEBSOCKET for a handshake; `scheme` is the requesting page's, http or https; `uid` is None if the kernel
    does not know it; `here` is the server's address of the connection; `forwarded` is True if a proxy forwarded the
    request; `name` identifies a guest's browser, and `person` is the address of somebody who has signed in.
    """

    method: str
    path: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...] = ()
    scheme: str = "http"
    uid: int | None = None
    here: str = ""
    forwarded: bool = False
    token: str = ""
    cookie: str = ""
    name: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a request is refused: the HTTP status, and a sentence for the reader.

    `may_sign_in` is True if signing in may help, `of_visitor` if the visitor is the reason, not the request.
    """

    status: int
    words: str
    may_sign_in: bool = False
    of_visitor: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of a server.

    `hosts` are the allowed host names, `code` is True if it runs visitors' code, and `private` is True if it serves
    only its own machine. `owner` is the user id that it runs as, `base` its path prefix; a visitor with the `secret`
    counts as its owner. Where people sign in, `kind_of` returns a person's kind of visitor. `group` is the first
    port of several processes behind one proxy, which know each other's cookies. `agents` is the path for coding agents,
    empty if there is none.
    """

    hosts: tuple[str, ...]
    code: bool
    private: bool
    owner: int
    base: str = ""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    kind_of: Callable[[str], Visitor] | None = None
    group: int | None = None
    agents: str = ""

    def refusal(self, request: VisitorRequest) -> Refusal | None:
        """Return the reason for refusing a request; None if it may pass."""
        names = [name_of(host) for host in request.hosts]
        if len(names) != 1 or names[0] is None or not is_ours(names[0], self.hosts):
            return Refusal(400, HOST_UNKNOWN)
        # An agent names no origin. A browser always does in a request that is not safe.
        must_say = request.method not in SAFE_METHODS and request.path != (self.agents or None)
        same = [same_origin(origin, request.scheme, request.hosts[0]) for origin in request.origins]
        if not all(same) or len(same) > 1 or (must_say and not same):
            return Refusal(403, ORIGIN_FOREIGN)
        if CONTROL.search(request.path):
            return Refusal(400, "A path has no control characters.\n")
        if STREAMLITS in request.path.lower() and not OPEN.fullmatch(request.path.removeprefix(self.base)):
            return Refusal(404, "Not found.\n")
        if request.path in (self.base + HEALTH, *(self.base + path for path in self.open_to_strangers)):
            return None
        visitor = self.visitor(request)
        if visitor is Visitor.STRANGER:
            known = Refusal(403, NO_ROLE.format(request.person), of_visitor=True)
            return known if request.person else Refusal(401, SIGN_IN_FIRST, may_sign_in=True, of_visitor=True)
        if self.code and self.kind_of is None and visitor is not Visitor.OWNER:
            return Refusal(403, STRANGER, of_visitor=True)
        return None

    @property
    def open_to_strangers(self) -> tuple[str, ...]:
        """Paths of the sign-in; empty on a server without sign-in."""
        return (SIGN_IN, SIGN_OUT, SIGNED_IN) if self.kind_of is not None else ()

    def visitor(self, request: VisitorRequest) -> Visitor:
        """Return the kind of visitor.

        The owner is recognised by user id or secret. If people sign in, all others have their role. Without sign-in,
        all others are onlookers of a private server, or guests of a public server.
        """
        if self._is_owner(request):
            return Visitor.OWNER
        if self.kind_of is not None:
            return self.kind_of(request.person)
        return Visitor.ONLOOKER if self.private else Visitor.GUEST

    def mark(self, request: VisitorRequest) -> str:
        """Return the visitor as text for the pages: the kind, and a person's or guest's name."""
        if self._is_owner(request):
            return Visitor.OWNER.value
        kind = self.visitor(request)
        if self.kind_of is not None:
            return f"{kind.value} {request.person}"
        return f"{kind.value} {known_as(request.name)}" if kind is Visitor.GUEST else kind.value

    def cookie_for(self, uid: int | None) -> str:
        """Return the cookie that a browser sends instead of the secret.

        A browser sends cookies to every port of a host, also to other users' servers, which could copy them.
        So a cookie made for a user of this machine is valid only if that user sends it.
        """
        return hmac.new(self.secret.encode(), f"uid {uid}".encode(), hashlib.sha256).hexdigest()

    def is_secret(self, token: str) -> bool:
        """Return True if the token is the secret; the comparison takes constant time."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.secret.encode())

    def _is_owner(self, request: VisitorRequest) -> bool:
        """Return True for the server's owner, by user id or secret."""
        return self._is_owners_process(request) or self._knows_secret(request)

    def _knows_secret(self, request: VisitorRequest) -> bool:
        shown, wanted = request.cookie.encode("utf-8", "replace"), self.cookie_for(request.uid).encode()
        return self.is_secret(request.token) or secrets.compare_digest(shown, wanted)

    def _is_owners_process(self, request: VisitorRequest) -> bool:
        """Return True if the request comes from a process of the server's owner, by the user id of its socket.

        A proxy may be the owner's process too, so forwarded requests and requests for other host names do not count.
        """
        name = name_of(request.hosts[0])
        direct = not request.forwarded and (name in LOOPBACK or name == request.here)
        return direct and request.uid == self.owner


def rules(kind_of: Callable[[str], Visitor] | None = None) -> Rules:
    """Return this server's rules from Streamlit's options and the environment; `kind_of` as in Rules."""
    hosts = tuple(st.get_option("server.allowedHosts") or ("*",))
    private = is_private(st.get_option("server.address"), hosts)
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    owner = os.getuid() if hasattr(os, "getuid") else NOBODY
    start = f"/{base}" if base else ""
    agents = f"{start}/mcp" if os.environ.get("COMPILEBOARD_MCP") == "1" else ""
    own = Rules(hosts, code_allowed(), private, owner, start, kind_of=kind_of, agents=agents)
    # Runs inherit the environment, and must not know the secret.
    group = GROUP.fullmatch(os.environ.pop("COMPILEBOARD_GROUP", ""))
    return replace(own, group=int(group[1]), secret=group[2]) if group else own


def name_of(host: str) -> str | None:
    """Return the name in a Host header, in lower case and without its port; None if the header is invalid."""
    found = HOST.fullmatch(host.lower())
    return (found.group(1) or found.group(2)).removesuffix(".") if found else None


def is_ours(name: str, allowed: Iterable[str]) -> bool:
    """Return True if the host is allowed, as by `*.example.org` or `*`; loopback always is."""
    for pattern in (item.strip().lower().removesuffix(".") for item in allowed):
        if pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:])):
            return True
    return name in LOOPBACK


def same_origin(origin: str, scheme: str, host: str) -> bool:
    """Return True if the origin has the scheme, host and port of the request."""
    return origin == f"{scheme}://{host.lower()}"


def is_private(address: str | None, allowed: Iterable[str]) -> bool:
    """Return True if the listening address and all allowed hosts are loopback."""
    return address in LOOPBACK and all(name in LOOPBACK for name in allowed)
