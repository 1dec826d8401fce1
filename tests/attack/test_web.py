"""From a foreign page, a foreign name, and past the pages: every way is refused before Streamlit sees it."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.attack.web import ask, shake_hands
from tests.browser import Server, serving

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


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host_gets_nothing(opened: Server, host: str) -> None:
    with_port = f"{host}:{port(opened)}" if host else ""
    assert {ask(opened, path, host=with_port) for path in PATHS} == {400}
    assert shake_hands(opened, f"http://{with_port}", with_port) == 403


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_foreign_page_gets_nothing(opened: Server, origin: str) -> None:
    said = origin.format(port=port(opened))
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        assert {ask(opened, path, method, (("Origin", said),)) for path in PATHS} == {403}
    assert shake_hands(opened, said) == 403


def test_our_own_page_gets_in(opened: Server, closed: Server) -> None:
    assert shake_hands(opened, opened.url) == shake_hands(closed, closed.url) == 101
    assert (ask(opened), ask(opened, "/overview"), ask(opened, "/_stcore/health")) == (200, 200, 200)
    assert shake_hands(opened, None) == 403


def test_a_foreign_page_makes_the_server_ask_nobody_and_wait_for_nothing(
    opened: Server, silent_proxy: tuple[str, Callable[[], bool]]
) -> None:
    assert [shake_hands(opened, f"http://evil{number}.example") for number in range(5)] == [403] * 5
    assert ask(opened, "/_stcore/health") == 200
    assert not silent_proxy[1]()


def test_the_metrics_and_the_way_for_programs_are_closed(opened: Server, closed: Server) -> None:
    for server in (opened, closed):
        found = [ask(server, path) for path in ("/_stcore/metrics", "/_stcore/metrics/", "/%5fstcore/metrics")]
        found.append(ask(server, "/_stcore/agent/mcp", "POST", (("Origin", server.url),)))
        assert found == [404] * 4


def test_what_a_proxy_passes_on_needs_the_secret(opened: Server) -> None:
    for header in ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"):
        assert ask(opened, headers=((header, "127.0.0.1"),)) == 403
        assert ask(opened, "/_stcore/health", headers=((header, "127.0.0.1"),)) == 200
    assert ask(opened, "/?token=guess", headers=(("Via", "x"),)) == 403
    assert ask(opened, headers=(("Via", "x"), ("Cookie", f"compileboard-{port(opened)}=guess"))) == 403


def test_the_printed_address_opens_the_door_for_its_cookie(opened: Server) -> None:
    printed = re.search(r"/\?token=(\S+)", (opened.home / "server.log").read_text())
    assert printed is not None
    assert ask(opened, f"/?token={printed.group(1)}", headers=(("Via", "x"),)) == 303
    assert ask(opened, f"/?token={printed.group(1)}") == 303


def test_below_a_path_on_all_addresses_and_behind_a_proxy_it_works(
    tmp_path: Path, silent_proxy: tuple[str, Callable[[], bool]]
) -> None:
    """As the container starts it, with a proxy that passes on the name and the scheme."""
    variables = {
        "http_proxy": silent_proxy[0],
        "COMPILEBOARD_ALLOW_CODE": "0",
        "STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org",
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_SERVER_BASE_URL_PATH": "board",
    }
    with serving(tmp_path, **variables) as server:
        host = "board.example.org"
        proxied = (("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "198.51.100.7"))
        assert ask(server, "/board/", headers=proxied, host=host) == 200
        assert ask(server, "/board/_stcore/health") == 200
        assert ask(server, "/board/_stcore/metrics", headers=proxied, host=host) == 404
        assert ask(server, "/board/", host="evil.example") == 400
        assert shake_hands(server, f"https://{host}", host, proxied) == 101
        assert shake_hands(server, f"http://{host}", host, proxied) == 403
        assert not silent_proxy[1]()
        assert "token=" not in (server.home / "server.log").read_text()
