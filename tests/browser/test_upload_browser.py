"""Logs brought to a dashboard: in a browser, and as requests that are cut short or too large."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import PATIENCE_S, Server, go, headline, serving, wait_for
from tests.support.places import TRACES

LOG = TRACES / "foreign" / "trace.log"
GUEST = ("X-Forwarded-For: 10.0.0.9",)
MOST_MB = 2

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that anybody may visit, with a bound for uploads."""
    hosts = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org 127.0.0.1"}
    home = tmp_path_factory.mktemp("public")
    with serving(
        home, torch=False, COMPILEBOARD_ALLOW_CODE="0", COMPILEBOARD_MAX_UPLOAD_MB=str(MOST_MB), **hosts
    ) as server:
        yield server


def bring(
    server: Server, body: bytes, length: int | None = None, headers: tuple[str, ...] = GUEST
) -> tuple[int, dict[str, str]]:
    """Send a log as a browser would; the status and the answer, 0 if the connection was cut by us."""
    own = urlsplit(server.url)
    said = [
        f"Host: {own.netloc}",
        f"Origin: {server.url}",
        f"Content-Length: {len(body) if length is None else length}",
    ]
    with socket.create_connection((own.hostname or "", own.port or 80), PATIENCE_S) as stream:
        stream.sendall(
            "\r\n".join(["POST /upload?name=x.log HTTP/1.1", *said, *headers, "Connection: close", "", ""]).encode()
        )
        stream.sendall(body)
        if length is not None and length > len(body):
            return 0, {}
        answer = stream.makefile("rb").read()
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(rest) if b"application/json" in head else {}


def stored(server: Server) -> set[str]:
    """The runs of a server; one that nobody has visited has no directory for them."""
    return {path.parent.name for path in server.home.glob("runs/*/status.json")}


def process_of(server: Server) -> psutil.Process:
    port = str(urlsplit(server.url).port)
    return next(item for item in psutil.process_iter(["cmdline"]) if port in (item.info["cmdline"] or []))


def test_a_log_is_picked_sent_and_opened(page: Page, server: Server) -> None:
    before = stored(server)
    go(page, server.url)
    page.get_by_role("tab", name="A trace log").click()
    page.locator(".st-key-upload input[type=file]").set_input_files(LOG)
    expect(headline(page)).to_contain_text("graph")
    (made,) = stored(server) - before
    assert (server.home / "runs" / made / "trace" / "opened.log").read_bytes() == LOG.read_bytes()


@pytest.mark.long
def test_a_log_that_is_dropped_is_sent_too(page: Page, server: Server) -> None:
    go(page, server.link(""))
    page.get_by_role("tab", name="A trace log").click()
    zone = page.locator(".st-key-upload .zone")
    carried = page.evaluate_handle(
        "text => { const all = new DataTransfer(); all.items.add(new File([text], 'dropped.log')); return all }",
        LOG.read_text(encoding="utf-8"),
    )
    zone.dispatch_event("drop", {"dataTransfer": carried})
    expect(headline(page)).to_contain_text("graph")


@pytest.mark.long
def test_what_is_no_trace_and_what_is_too_large_is_refused_in_words(page: Page, public: Server, tmp_path: Path) -> None:
    large, other = tmp_path / "large.log", tmp_path / "other.log"
    large.write_bytes(b"x" * (MOST_MB * 1_000_000 + 1))
    other.write_bytes(b"no trace\n")
    go(page, public.link(""))
    page.get_by_role("tab", name="A trace log").click()
    zone = page.locator(".st-key-upload")
    expect(zone).to_contain_text("at most 2.00 MB")
    zone.locator("input[type=file]").set_input_files(large)
    expect(zone).to_contain_text("large.log is larger than the 2.00 MB that this server takes")
    zone.locator("input[type=file]").set_input_files(other)
    expect(zone.locator(".zone.bad")).not_to_contain_text("large.log")
    assert stored(public) == set()


@pytest.mark.promise("logs")
def test_a_log_that_is_too_large_is_refused(public: Server) -> None:
    """An upload larger than the limit is refused, and nothing of it is stored."""
    too_large = {"problem": "the log is larger than the 2.00 MB that this server takes"}
    assert bring(public, b"x" * (MOST_MB * 1_000_000 + 1)) == (403, too_large)
    assert stored(public) == set()


@pytest.mark.promise("logs")
def test_an_upload_that_is_cut_short_leaves_nothing(public: Server) -> None:
    """An interrupted upload leaves no file."""
    assert bring(public, LOG.read_bytes(), length=LOG.stat().st_size + 100) == (0, {})
    process = process_of(public)
    wait_for(lambda: not any("(deleted)" in file for file in _files(process)))
    # Beside its log, the server leaves its address and the index of the runs.
    files = [path for path in public.home.rglob("*") if path.is_file() and path.parent.name not in ("servers", "index")]
    assert [path.name for path in files] == ["server.log"]
    assert list(public.home.glob("runs/*")) == []


def test_what_comes_from_no_page_of_ours_is_refused(public: Server) -> None:
    own = urlsplit(public.url)
    with socket.create_connection((own.hostname or "", own.port or 80), PATIENCE_S) as stream:
        stream.sendall(f"POST /upload HTTP/1.1\r\nHost: {own.netloc}\r\nContent-Length: 0\r\n\r\n".encode())
        assert stream.recv(100).split()[1] == b"403"


@pytest.mark.promise("logs")
def test_many_uploads_take_no_memory_of_the_server(server: Server) -> None:
    """Uploads go to disk and do not grow the server's memory."""
    process = process_of(server)
    assert bring(server, LOG.read_bytes(), headers=())[0] == 200
    before = process.memory_info().rss
    assert bring(server, b"x" * 300_000_000, headers=())[0] == 400
    assert process.memory_info().rss - before < 50_000_000


def _files(process: psutil.Process) -> list[str]:
    found = []
    for path in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            found.append(str(path.readlink()))
        except OSError:
            continue
    return found
