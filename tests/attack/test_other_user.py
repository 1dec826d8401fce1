"""Another user of the same machine: may not run, cancel, delete or read."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from core import Store, StoreError
from pages.gate.middleware import uid_of
from tests.attack.conftest import ANOTHER_UID, modes
from tests.attack.web import ask
from tests.support.browser import Server, go

As = Callable[[str], str]

ASK = """
def ask(path, *headers):
    with socket.create_connection(("127.0.0.1", {port}), 5) as connection:
        lines = ["GET " + path + " HTTP/1.1", "Host: 127.0.0.1:{port}", *headers, "", ""]
        connection.sendall("\\r\\n".join(lines).encode())
        return connection.recv(4096).decode("latin-1")

def status(path, *headers):
    return int(ask(path, *headers).split()[1])

SHAKE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
         "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Origin: http://127.0.0.1:{port}"]
STREAM = "/_stcore/stream"
"""


def asking(server: Server, code: str) -> str:
    return ASK.format(port=urlsplit(server.url).port) + code


@pytest.mark.promise("users")
@pytest.mark.attack("breach 2", "a process of another user, with forged headers")
def test_where_code_is_allowed_another_user_does_not_enter(opened: Server, as_another_user: As) -> None:
    """Where code is allowed, other users of the machine cannot enter, whatever headers they send."""
    said = as_another_user(asking(opened, "print(status('/'), status('/_stcore/host-config'), status(STREAM, *SHAKE))"))
    assert said == "403 403 403"
    forged = ("X-Compileboard-Visitor: owner", "X-Forwarded-For: 127.0.0.1", "Cookie: compileboard=1")
    said = as_another_user(asking(opened, f"print(*(status(STREAM, header, *SHAKE) for header in {forged!r}))"))
    assert said == "403 403 403"


@pytest.mark.promise("users")
@pytest.mark.attack("breach 2", "sockets that are closed while the kernel is asked")
def test_a_socket_that_its_user_has_closed_is_not_taken_for_roots(as_another_user: As) -> None:
    """A closed socket identifies no user, although the kernel reports its owner as root.

    All is sent at once and the socket closed while the kernel is asked, which calls a closed socket root's.
    """
    hurry = """
for attempt in range(400):
    with socket.create_connection(("127.0.0.1", {port}), 5) as connection:
        connection.sendall(b"x" * 2000)
        for _ in range(attempt * 10):
            pass
"""
    with socket.create_server(("127.0.0.1", 0), backlog=500) as listener:
        seen: set[int | None] = set()

        def look() -> None:
            for _ in range(400):
                server, client = listener.accept()
                with server:
                    seen.add(uid_of(client, server.getsockname()))

        looking = Thread(target=look)
        looking.start()
        as_another_user(hurry.format(port=listener.getsockname()[1]))
        looking.join(20)
    assert seen <= {ANOTHER_UID, None}


@pytest.mark.promise("users")
@pytest.mark.attack("breach 2", "a cookie of another user's")
def test_another_user_with_the_printed_secret_enters_and_its_cookie_is_nobody_elses(
    opened: Server, as_another_user: As
) -> None:
    """A user who enters with the secret gets a cookie that works for this user only."""
    printed = re.search(r"token=(\S+)", (opened.home / "server.log").read_text())
    assert printed is not None
    said = as_another_user(asking(opened, f"print(ask('/?token={printed.group(1)}'))"))
    cookie = re.search(r"set-cookie: ([^;]+)", said)
    assert said.startswith("HTTP/1.1 303")
    assert cookie is not None
    shown = f"'Cookie: {cookie.group(1)}'"
    assert as_another_user(asking(opened, f"print(status('/', {shown}), status(STREAM, {shown}, *SHAKE))")) == "200 101"
    assert ask(opened, headers=(("Via", "x"), ("Cookie", cookie.group(1)))) == 403


@pytest.mark.attack("breach 2", "another user, where code is not allowed")
def test_where_code_is_not_allowed_another_user_may_look(closed: Server, as_another_user: As) -> None:
    said = as_another_user(asking(closed, "print(status('/'), status('/_stcore/host-config'), status(STREAM, *SHAKE))"))
    assert said == "200 200 101"


@pytest.mark.promise("users")
@pytest.mark.attack("breach 2", "another user's browser presses Compile")
@pytest.mark.browser
def test_another_users_browser_starts_nothing(closed: Server, other_users_door: Server, page: Page) -> None:
    """Where code is not allowed, other users of the machine cannot start runs."""
    before = set((closed.home / "runs").iterdir())
    go(page, other_users_door.url)
    page.locator(".st-key-compile-sin_cos button").click()
    expect(page.get_by_text("Only the owner of this server may start")).to_be_visible()
    assert set((closed.home / "runs").iterdir()) == before


@pytest.mark.promise("users")
@pytest.mark.attack("breach 3", "request 11", "another user reads the store")
def test_another_user_reads_nothing_of_the_store(closed: Server, as_another_user: As) -> None:
    """Other users of the machine cannot read runs, logs, models or reports."""
    Store(closed.home)
    paths = [str(closed.home / name) for name in ("runs", *(f"runs/{path}" for path in modes(closed.home / "runs")))]
    said = as_another_user(f"""
for path in {paths!r}:
    try:
        print(path, os.listdir(path) if os.path.isdir(path) else open(path).read(10))
    except OSError:
        pass
""")
    assert len(paths) > 3
    assert said == ""


@pytest.mark.promise("users")
@pytest.mark.attack("abuse 8", "a home that another user has made before, to be loaded from")
def test_a_home_of_another_users_is_not_taken(tmp_path: Path) -> None:
    """A home that another user has made is refused, so that no compiled object is loaded from it."""
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    for name in ("runs", "cache"):
        home = tmp_path / f"with-{name}"
        home.mkdir()
        (home / name).mkdir()
        os.chown(home / name, ANOTHER_UID, ANOTHER_UID)
        with pytest.raises(StoreError, match="belongs to another user"):
            Store(home)
