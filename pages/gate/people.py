"""People who sign in by OpenID Connect, and their roles from a file of the server's owner.

Streamlit signs people in (`[auth]` of its secrets.toml) and keeps the provider's claims in a signed cookie, which the
gate reads on every request. A role is looked up when it is needed, so that a changed file counts at once.
"""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from streamlit import auth_util, config
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from core import CompileboardError, Rate
from pages.gate.rules import SIGN_IN, Visitor

VARIABLE, HIDE = "COMPILEBOARD_PEOPLE", "COMPILEBOARD_SANDBOX_HIDE"
MOST_FILE_BYTES = 1_000_000  #: limit: the roles file
# The longest address of RFC 5321.
MOST_ADDRESS_CHARS = 254  #: a person's mail address
EVERYBODY = "*"
SETTINGS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
LEAST_SECRET_CHARS = 32
# Why the sign-in at the provider does not count here.
UNVERIFIED = (
    "The provider does not call the address {} verified (`email_verified`). Verify it there, and sign in again. "
    "A provider that never says so needs `verified = false` in this server's file of roles."
)
NO_ADDRESS = "The provider sent no address (`email`). The client needs the scope `email` at the provider."
INVALID_ADDRESS = "The provider sent an address that is none (`email`)."
LimitedRole = Literal["code", "samples"]
KINDS = {"admin": Visitor.OWNER, "code": Visitor.CODER, "samples": Visitor.GUEST, "look": Visitor.ONLOOKER}


class Roles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses by role; the first role that names a person counts.

    An address is `ada@example.org`, `*@example.org` or `*`. If `verified` is False, addresses count even if the
    provider has not verified them: use this only for a provider that knows the people of one organization.

    `runs_an_hour` and `minutes_an_hour` limit, by role, the runs that a person may start and their execution time. They
    replace the server's limits.
    """

    admin: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    look: tuple[str, ...] = ()
    verified: bool = True
    runs_an_hour: dict[LimitedRole, Annotated[int, Meta(gt=0)]] = {}
    minutes_an_hour: dict[LimitedRole, Annotated[float, Meta(gt=0)]] = {}

    def kind(self, person: str) -> Visitor:
        """Return the kind of visitor that a person is; STRANGER if no role names the person."""
        for role, kind in KINDS.items():
            if any(_names(pattern.lower(), person) for pattern in getattr(self, role)):
                return kind
        return Visitor.STRANGER

    def rate(self, person: str, rate: Rate) -> Rate:
        """Return the rate of a person: the rate of their role, otherwise the server's; an admin has no limits."""
        role = role_of(self.kind(person))
        if role == "admin":
            return Rate()
        minutes = self.minutes_an_hour.get(role)  # type: ignore[call-overload]
        seconds = rate.seconds if minutes is None else 60.0 * minutes
        return Rate(self.runs_an_hour.get(role, rate.runs), seconds)  # type: ignore[call-overload]


class People:
    """The roles of people, from a file that is read again when it changes.

    While the file is invalid, nobody has a role. `origin` is the scheme and host of the address to which the
    provider returns people after they sign in.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self._path = path
        self._origin = origin
        self._roles = (self._state(), read_roles(path))

    def kind(self, person: str) -> Visitor:
        """Return the kind of visitor that a person is; STRANGER for nobody."""
        return self._current().kind(person) if person else Visitor.STRANGER

    def rate(self, by: str, rate: Rate) -> Rate:
        """Return the limits of a visitor's runs per hour, by default `rate`, the server's."""
        return self._current().rate(by, rate) if is_address(by) else rate

    def person(self, cookies: Mapping[str, str]) -> str:
        """Return the address of the person who has signed in with any such cookies; empty if nobody has."""
        claims = self._claims(cookies)
        return self.address(claims) if claims else ""

    def address(self, claims: Mapping[str, Any]) -> str:
        """Return the address in an ID token's claims, in lower case; empty if invalid or not verified."""
        return "" if self._problem(claims) else str(claims["email"]).lower()

    def problem(self, cookies: Mapping[str, str]) -> str:
        """Return why the person with these cookies has no address; empty if nobody has signed in."""
        claims = self._claims(cookies)
        return self._problem(claims) if claims else ""

    def _problem(self, claims: Mapping[str, Any]) -> str:
        address = claims.get("email")
        if address is None:
            return NO_ADDRESS
        if not isinstance(address, str) or not is_address(address):
            return INVALID_ADDRESS
        verified = claims.get("email_verified") is True or not self._current().verified
        return "" if verified else UNVERIFIED.format(address)

    def _claims(self, cookies: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the provider's claims about the person with these cookies; empty if nobody has signed in."""
        signed = {name: value for name, value in cookies.items() if value.isascii()}
        cookie = starlette_websocket._get_signed_cookie_with_chunks(signed, USER_COOKIE_NAME)
        claims = starlette_websocket._parse_decoded_user_cookie(cookie, self._origin) if cookie else {}
        return claims if claims.get("is_logged_in") is True else {}

    def sign_in_path(self) -> str:
        """Return the path and query that begin the sign-in, below the server's own path."""
        return f"{SIGN_IN}?provider={auth_util.encode_provider_token('default')}"

    def _current(self) -> Roles:
        try:
            if (state := self._state()) != self._roles[0]:
                self._roles = (state, read_roles(self._path))
        except (OSError, CompileboardError):
            return Roles()
        return self._roles[1]

    def _state(self) -> tuple[int, int]:
        stat = self._path.stat()
        return stat.st_mtime_ns, stat.st_size


def read_roles(path: Path) -> Roles:
    """Return the roles in a TOML file; raises CompileboardError."""
    try:
        with path.open("rb") as file:
            return msgspec.convert(tomllib.loads(file.read(MOST_FILE_BYTES).decode("utf-8")), Roles)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CompileboardError(f"{VARIABLE} names {path}, which is no file of roles: {reason}") from None


def role_of(kind: Visitor) -> str:
    """Return the name of the role of this kind of visitor; `none` for a stranger."""
    return next((role for role, its_kind in KINDS.items() if its_kind is kind), "none")


def is_address(text: str) -> bool:
    """Return True if a text can name a person: a short address without spaces and control characters."""
    return len(text) <= MOST_ADDRESS_CHARS and "@" in text and text.isprintable() and " " not in text


def _names(pattern: str, person: str) -> bool:
    return pattern in (EVERYBODY, person) or (pattern.startswith("*@") and person.endswith(pattern[1:]))


def hide_secrets() -> None:
    """Hide the files of Streamlit's secrets from runs in a sandbox, wherever they are."""
    files = filter(None, (os.environ.get(HIDE, ""), *config.get_option("secrets.files")))
    os.environ[HIDE] = os.pathsep.join(dict.fromkeys(files))


@cache
def the_people() -> People | None:
    """Return the people of this server, None without a file of roles; raises CompileboardError."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        return None
    if not auth_util.is_authlib_installed():
        raise CompileboardError(
            f"{VARIABLE} needs authlib and httpx: `make extra EXTRA=login`, or pip install 'compileboard[login]'"
        )
    section = auth_util.get_secrets_auth_section()
    missing = [key for key in SETTINGS if not section.get(key)]
    if missing:
        raise CompileboardError(f"{VARIABLE} needs `[auth]` in .streamlit/secrets.toml; missing: {', '.join(missing)}")
    if len(section["cookie_secret"]) < LEAST_SECRET_CHARS:
        raise CompileboardError(
            f"`cookie_secret` in .streamlit/secrets.toml needs {LEAST_SECRET_CHARS} characters or more"
        )
    read_roles(path := Path(named))
    return People(path, auth_util.get_origin_from_redirect_uri() or "")
