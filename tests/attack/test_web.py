"""From a foreign page, a foreign name, and past the pages: every way is refused before Streamlit sees it."""

import re
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.attack.talk import talking
from tests.attack.web import answer, ask, send, shake_hands
from tests.support.browser import Server, serving

PATHS = (
    "/",
    "/overview",
    "/app/static/icon.png",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/upload_file/x/y",
    "/graph/0/all",
    "/media/x.png",
    "/_stcore/agent/openapi.json",
)
HOSTS = (
    "evil.example",
    "localhost.evil.example",
    "0.0.0.0",
    "127.0.0.1.nip.io",
    "",
    "[::ffff:127.0.0.1]",
    "127.0.0.1@x",
)
ORIGINS = (
    "http://evil.example",
    "null",
    "file://",
    "https://share.streamlit.io",
    "http://localhost.evil",
    "http://127.0.0.1:9999",
    "http://localhost:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://0.0.0.0:{port}",
)


def port(server: Server) -> int:
    return urlsplit(server.url).port or 0


@pytest.mark.promise("web")
@pytest.mark.attack(
    "breach 7",
    "request 1",
    "request 3",
    "foreign hosts: names that lead here, 0.0.0.0, none, user information, mapped IPv6",
)
@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host_gets_nothing(opened: Server, host: str) -> None:
    """Requests with a Host that is not allowed are refused: pages, files, routes, health and WebSockets."""
    with_port = f"{host}:{port(opened)}" if host else ""
    assert {ask(opened, path, host=with_port) for path in PATHS} == {400}
    assert shake_hands(opened, f"http://{with_port}", with_port) == 403


@pytest.mark.promise("web")
@pytest.mark.attack("breach 6", "request 1", "request 2", "foreign origins, other ports and schemes, every method")
@pytest.mark.parametrize("origin", ORIGINS)
def test_a_foreign_page_gets_nothing(opened: Server, origin: str) -> None:
    """Requests from pages of another origin are refused, also of another port or scheme."""
    said = origin.format(port=port(opened))
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        assert {ask(opened, path, method, (("Origin", said),)) for path in PATHS} == {403}
    assert shake_hands(opened, said) == 403


@pytest.mark.attack("request 1", "no Origin at all")
def test_our_own_page_gets_in(opened: Server, closed: Server) -> None:
    assert shake_hands(opened, opened.url) == shake_hands(closed, closed.url) == 101
    assert (ask(opened), ask(opened, "/overview"), ask(opened, "/_stcore/health")) == (200, 200, 200)
    assert shake_hands(opened, None) == 403


@pytest.mark.promise("web")
@pytest.mark.attack("breach 6", "text 2", "handshakes of foreign pages, through a proxy that never answers")
def test_a_foreign_page_makes_the_server_ask_nobody_and_wait_for_nothing(
    opened: Server, silent_proxy: tuple[str, Callable[[], bool]]
) -> None:
    """The server sends no requests of its own, not even when a foreign page connects."""
    assert [shake_hands(opened, f"http://evil{number}.example") for number in range(5)] == [403] * 5
    assert ask(opened, "/_stcore/health") == 200
    assert not silent_proxy[1]()


@pytest.mark.promise("web")
@pytest.mark.attack("breach 7", "metrics and the way for programs")
def test_the_metrics_and_the_way_for_programs_are_closed(opened: Server, closed: Server) -> None:
    """Streamlit's metrics and API routes are closed."""
    for server in (opened, closed):
        found = [ask(server, path) for path in ("/_stcore/metrics", "/_stcore/metrics/", "/%5fstcore/metrics")]
        found.append(ask(server, "/_stcore/agent/mcp", "POST", (("Origin", server.url),)))
        assert found == [404] * 4


@pytest.mark.promise("web")
@pytest.mark.attack("breach 2", "a proxy that runs as the owner; guessed secrets")
def test_what_a_proxy_passes_on_needs_the_secret(opened: Server) -> None:
    """Where code is allowed, requests that a proxy forwards need the secret."""
    for header in ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"):
        assert ask(opened, headers=((header, "127.0.0.1"),)) == 403
        assert ask(opened, "/_stcore/health", headers=((header, "127.0.0.1"),)) == 200
    assert ask(opened, "/?token=guess", headers=(("Via", "x"),)) == 403
    assert ask(opened, headers=(("Via", "x"), ("Cookie", f"compileboard-{port(opened)}=guess"))) == 403


@pytest.mark.attack("breach 2", "the printed address")
def test_the_printed_address_gives_its_cookie_access(opened: Server) -> None:
    printed = re.search(r"/\?token=(\S+)", (opened.home / "server.log").read_text())
    assert printed is not None
    assert ask(opened, f"/?token={printed.group(1)}", headers=(("Via", "x"),)) == 303
    assert ask(opened, f"/?token={printed.group(1)}") == 303


@pytest.mark.attack("breach 6", "breach 7", "on all addresses, behind a proxy, below a path")
def test_below_a_path_on_all_addresses_and_behind_a_proxy_it_works(
    tmp_path: Path, silent_proxy: tuple[str, Callable[[], bool]]
) -> None:
    """As the container starts it, with a proxy that passes on the name and the scheme."""
    variables: dict[str, Any] = {
        "http_proxy": silent_proxy[0],
        "COMPILEBOARD_ALLOW_CODE": "0",
        "STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org",
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_SERVER_BASE_URL_PATH": "board",
    }
    with serving(tmp_path, torch=False, **variables) as server:
        host = "board.example.org"
        proxied = (("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "198.51.100.7"))
        assert ask(server, "/board/", headers=proxied, host=host) == 200
        assert ask(server, "/board/_stcore/health") == 200
        assert ask(server, "/board/_stcore/metrics", headers=proxied, host=host) == 404
        assert ask(server, "/board/", host="evil.example") == 400
        assert shake_hands(server, f"https://{host}", host, proxied) == 101
        assert shake_hands(server, f"http://{host}", host, proxied) == 403
        assert not silent_proxy[1]()


@pytest.mark.attack(
    "abuse 7", "requests that are absolute, without or with two hosts, folded, smuggled, cut, no HTTP at all"
)
@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET http://127.0.0.1/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
        ("GET http://evil.example/_stcore/metrics HTTP/1.1\r\n{host}\r\n", 404),
        ("GET / HTTP/1.0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\tevil.example\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n{host}Transfer-Encoding: xchunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n{host}Content-Length: 6\r\nContent-Length: 7\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n{host}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG", 403),
        ("CONNECT evil.example:80 HTTP/1.1\r\n{host}\r\n", 403),
        ("TRACE / HTTP/1.1\r\n{host}\r\n", 403),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
        ("GET /graph/x/levels?ids={digits} HTTP/1.1\r\n{host}\r\n", 404),
    ],
)
def test_an_odd_request_is_refused(opened: Server, request_: str, status: int) -> None:
    own = urlsplit(opened.url).netloc
    assert send(opened, request_.format(host=f"Host: {own}\r\n", digits="9" * 10_000)) == status


@pytest.mark.promise("web")
@pytest.mark.attack("request 5", "traversal on every route that serves files, in fourteen forms")
@pytest.mark.parametrize(
    "route", ["/app/static", "/static", "/media", "/component", "/_stcore/bidi-components", "/graph"]
)
def test_no_route_leaves_its_directory(opened: Server, route: str) -> None:
    """No path reaches a file outside the directories that are served."""
    ways = (
        "../app.py",
        "%2e%2e/app.py",
        "..%2fapp.py",
        "..%5capp.py",
        "....//app.py",
        "%252e%252e/app.py",
        "//etc/passwd",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "%00",
        "..;/app.py",
        "~root/.bashrc",
        "C:%5cwindows",
        "a/../../app.py",
    )
    for way in ways:
        found = answer(opened, f"{route}/{way}")
        assert b"import " not in found
        assert b"root:" not in found


@pytest.mark.attack("abuse 7", "300 requests that never end, and 100 WebSockets, while another asks")
def test_those_who_ask_slowly_keep_nobody_waiting(opened: Server) -> None:
    """Each holds a descriptor and no thread."""
    address = (urlsplit(opened.url).hostname, port(opened))
    with ExitStack() as held:
        for _ in range(300):
            slow = held.enter_context(socket.create_connection(address))
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(100):
            held.enter_context(talking(opened))
        assert ask(opened, "/_stcore/health") == 200


@pytest.mark.attack("request 4", "Streamlit's own way for uploads, which keeps them in memory")
@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_streamlits_uploads_are_closed(opened: Server, method: str) -> None:
    assert ask(opened, "/_stcore/upload_file/x/y", method, (("Origin", opened.url),)) == 404


@pytest.mark.promise("web")
@pytest.mark.attack("abuse 7", "the secret in logs, in Referer, in a cookie that scripts read")
def test_the_secret_is_printed_once(opened: Server) -> None:
    """The secret is in one log line only, the first, and is sent to no other address."""
    printed = re.search(r"/\?token=(\S+)", (opened.home / "server.log").read_text())
    assert printed is not None
    told = answer(opened, f"/?token={printed.group(1)}&run=x").decode("latin-1").lower()
    assert "location: ?run=x\r\n" in told
    assert "referrer-policy: no-referrer" in told
    assert re.search(r"set-cookie: [^\r]*; httponly; samesite=strict", told)
    assert printed.group(1).lower() not in told
    assert (opened.home / "server.log").read_text().count(printed.group(1)) == 1
