"""A real OpenID provider (npm's oidc-provider): who signs in is a person, and nobody else is."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from pages.gate.visitor import NO_ROLE_NOW
from tests.attack.talk import talking, words
from tests.attack.web import ask, shake_hands
from tests.support.browser import PATIENCE_S, Server, serving, wait_for
from tests.support.homes import add_run
from tests.support.places import ROOT, TRACES

DENO = Path(sys.executable).with_name("deno")
PROVIDER = ROOT / "tests" / "support" / "oidc" / "provider.js"
SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "a secret of at least 32 characters"
client_id = "compileboard"
client_secret = "a secret of a test"
server_metadata_url = "http://127.0.0.1:{port}/.well-known/openid-configuration"
client_kwargs = {{ "prompt" = "login" }}
"""
ROLES = 'code = ["ada@example.org"]\nsamples = ["bob@example.org"]\nlook = ["eve@example.org"]\n'
# What a proxy adds: a process of the owner's that has none of it is the owner.
PROXY = {"X-Forwarded-For": "192.0.2.1"}
PAGE = {"Accept": "text/html"}


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard with sign-in, and its file of roles."""

    server: Server
    roles: Path

    def visit(self) -> httpx.Client:
        """A browser that nobody has signed in with."""
        return httpx.Client(base_url=self.server.url, headers={**PROXY, **PAGE}, timeout=PATIENCE_S, trust_env=False)

    @contextmanager
    def signed_in(self, address: str, path: str = "/") -> Iterator[tuple[httpx.Client, httpx.Response]]:
        """A browser with which somebody has signed in, and the page that it ended at."""
        headers = {**PROXY, **PAGE}
        with httpx.Client(base_url=self.server.url, headers=headers, timeout=PATIENCE_S, trust_env=False) as browser:
            page = browser.get(path, follow_redirects=True)
            for form in ({"prompt": "login", "login": address, "password": "any"}, {"prompt": "consent"}):
                action = re.search(r'<form[^>]* action="([^"]+)"', page.text)
                assert action is not None, page.text
                page = browser.post(urljoin(str(page.url), action[1]), data=form, follow_redirects=True)
            yield browser, page


def cookie_of(browser: httpx.Client) -> str:
    """The cookies of the sign-in, as a browser sends them."""
    cookies = ((cookie.name, cookie.value) for cookie in browser.cookies.jar)
    return "; ".join(f"{name}={value}" for name, value in cookies if name.startswith("_streamlit"))


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    home = tmp_path_factory.mktemp("signed")
    add_run(home, "transformer", (TRACES / "transformer_block" / "trace.log").read_bytes())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = tmp_path_factory.mktemp("settings")
    (settings / "secrets.toml").write_text(SECRETS.format(port=port))
    (settings / "people.toml").write_text(ROLES)
    options = ("--secrets.files", str(settings / "secrets.toml"))
    variables: dict[str, Any] = {"COMPILEBOARD_PEOPLE": str(settings / "people.toml"), "COMPILEBOARD_ALLOW_CODE": "1"}
    with serving(home, *options, torch=False, **variables) as server, provider(port, server.url):
        yield Board(server, settings / "people.toml")


@contextmanager
def provider(port: int, client: str) -> Iterator[None]:
    """The provider, in a process of its own; its packages come from the npm registry at the first time."""
    locked = (f"--lock={PROVIDER.with_name('deno.lock')}", "--frozen", "--quiet")
    fetched = subprocess.run([DENO, "cache", *locked, PROVIDER], capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"the provider cannot be fetched: {fetched.stderr.strip()[-200:]}")
    command = [str(DENO), "run", *locked, "--allow-all", str(PROVIDER), str(port), client]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: _listens(port))
            yield
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.promise("people")
@pytest.mark.attack("login 1", "every path, handshake and upload without a sign-in, and with made-up cookies")
def test_without_a_sign_in_nothing_is_open_but_the_sign_in(board: Board) -> None:
    """Without a sign-in, only the sign-in, the health check and previews with a token are open."""
    proxy, page = tuple(PROXY.items()), tuple(PAGE.items())
    for cookie in ((), (("Cookie", '_streamlit_user="{}"'),), (("Cookie", "_streamlit_user=eyJ9.x.y"),)):
        for path in ("/app/static/icon.png", "/graph/0/all", "/_stcore/host-config", "/media/x", "/upload"):
            assert ask(board.server, path, headers=(*proxy, *cookie)) == 401
        assert ask(board.server, "/overview", headers=(*proxy, *page, *cookie)) == 303
        assert ask(board.server, "/_stcore/health", headers=(*proxy, *cookie)) == 200
        assert shake_hands(board.server, board.server.url, headers=(*proxy, *cookie)) == 403
        upload = (("Origin", board.server.url), ("Content-Length", "0"))
        assert ask(board.server, "/upload", "POST", headers=(*proxy, *upload, *cookie)) == 401


@pytest.mark.promise("people")
@pytest.mark.attack("login 2", "signing in with an address that the provider does not call verified")
def test_an_unverified_address_is_nobody(board: Board) -> None:
    """A person with an unverified mail address is not signed in."""
    with board.signed_in("unverified@example.org") as (browser, page):
        assert (page.status_code, "unverified@example.org verified (`email_verified`)" in page.text) == (401, True)
        assert browser.get("/runs").status_code == 303


@pytest.mark.attack("login 3", "signing in without a role")
def test_a_person_without_a_role_gets_a_message(board: Board) -> None:
    with board.signed_in("joe@example.org") as (browser, page):
        assert (page.status_code, "joe@example.org" in page.text, "no role" in page.text) == (403, True, True)
        with pytest.raises(InvalidStatus), talking(board.server, **PROXY, Cookie=cookie_of(browser)):
            pass


@pytest.mark.attack("login 4", "a link that leads to another host after the sign-in; one that leads to a page")
def test_who_signs_in_comes_to_the_page_that_they_wanted(board: Board) -> None:
    wanted = "/overview?run=none&x=%2F%2Fevil.example"
    with board.signed_in("bob@example.org", wanted) as (_, page):
        assert (page.status_code, str(page.url)) == (200, f"{board.server.url}{wanted}")
    with board.signed_in("bob@example.org", f"{board.server.url}//evil.example/") as (_, page):
        assert (page.status_code, urlsplit(str(page.url)).netloc) == (200, urlsplit(board.server.url).netloc)


@pytest.mark.promise("people")
@pytest.mark.attack("login 5", "keeping a page open after the role is gone")
def test_a_role_that_is_taken_away_is_gone_from_pages_that_are_open(board: Board) -> None:
    """A removed role is gone from pages that are already open."""
    with board.signed_in("eve@example.org") as (browser, _):
        with talking(board.server, **PROXY, Cookie=cookie_of(browser)) as visitor:
            assert "Runs" in words(visitor.page(page_name="runs"))
            board.roles.write_text(ROLES.replace("eve@", "adam@"))
            assert words(visitor.page(page_name="runs")).endswith(NO_ROLE_NOW)
        assert browser.get("/").status_code == 403
        board.roles.write_text(ROLES)
        assert browser.get("/").status_code == 200


@pytest.mark.attack("login 6", "signing out, and using the page and the cookie that were left")
def test_who_signs_out_is_out(board: Board) -> None:
    with board.signed_in("ada@example.org") as (browser, _):
        assert browser.get("/").status_code == 200
        browser.get("/auth/logout")
        assert browser.get("/").status_code == 303
