"""More than a server should take: megabytes in every text field, wrong kinds for every widget, uploads without end."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core import TARGETS, samples
from pages.gate.middleware import MOST_BYTES, MOST_BYTES_WITHOUT_CODE
from tests.attack.flooding import FIELDS, Health, baits, drawn_pages, ids, only_run, typed
from tests.attack.talk import element_of, is_finished, talking, words
from tests.attack.web import LIMIT_S, answer, ask, send
from tests.support.browser import Server, serving
from tests.support.homes import add_scenario

# Far above what a page takes on a busy machine, and far below what the parser takes for megabytes.
MOST_S = 20.0
COMPONENTS = ("bidi_component", "component_instance")
NO_JSON = "\x1b]0;owned\x07"
REPEATED = {*(sample.name for sample in samples()), *TARGETS}
FAILURES = 100
PATIENCE_S = 10.0
MOST_LOG_BYTES = 150_000
# How many text fields the pages have at least, so that none is forgotten.
LEAST_FIELDS = {"guest": 14, "owner": 19}
GUEST = {"X-Forwarded-For": "198.51.100.7"}


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for guests, with a run in its store."""
    home = tmp_path_factory.mktemp("public")
    add_scenario(home, "transformer_block")
    hosts = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org 127.0.0.1"}
    with serving(home, torch=False, COMPILEBOARD_ALLOW_CODE="0", **hosts) as server:
        yield server


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs its owner's code, with a run in its store."""
    home = tmp_path_factory.mktemp("owned")
    add_scenario(home, "transformer_block")
    with serving(home, torch=False) as server:
        yield server


@pytest.mark.long
@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 9", "megabytes in each text field of each page, by a guest and by the owner")
@pytest.mark.parametrize("who", ["guest", "owner"])
def test_megabytes_in_every_text_field_keep_nobody_waiting(who: str, request: pytest.FixtureRequest) -> None:
    """Megabytes of text in any field of any page keep no other visitor waiting."""
    server: Server = request.getfixturevalue("public" if who == "guest" else "owned")
    most = (MOST_BYTES_WITHOUT_CODE if who == "guest" else MOST_BYTES) - 20_000
    headers = GUEST if who == "guest" else {}
    tried: list[str] = []
    with Health(server) as health, talking(server, **headers) as visitor:
        for query, script, drawn in drawn_pages(visitor, only_run(server)):
            for field in ids(drawn, FIELDS):
                if field in tried:
                    continue
                for text in baits(len(tried), most):
                    visitor.page(query, typed(field, "f32[1]" + text), page_script_hash=script)
                tried.append(field)
    assert len(tried) >= LEAST_FIELDS[who]
    assert health.slowest_s < MOST_S


@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 9", "frames beyond the bound, of a guest and of the owner")
def test_a_frame_beyond_the_bound_is_not_read(public: Server, owned: Server) -> None:
    """Messages above the size limit are not read: 256 kB where code is not allowed."""
    for server, headers, most in ((public, GUEST, MOST_BYTES_WITHOUT_CODE), (owned, {}, MOST_BYTES)):
        with talking(server, **headers) as visitor:
            drawn = visitor.page("sample=mlp")
            (field, *_) = ids(drawn, FIELDS)
            visitor.rerun("sample=mlp", WidgetState(id=field, string_value="<" * most))
            assert "What does torch.compile do to your model?" in words(visitor.page())


@pytest.mark.long
@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 13", "abuse 4", "values of wrong kinds for every widget of every page, for ever")
def test_a_session_that_fails_for_ever_fills_no_log(public: Server) -> None:
    """A session that fails again and again does not grow the server's log."""
    log = public.home / "server.log"
    with talking(public, **GUEST) as visitor:
        pages = drawn_pages(visitor, only_run(public))
    for query, script, names in distinct(pages):
        forge(public, query, script, names, {"int_value": 2**62})
    for query, script, names in distinct(pages, COMPONENTS):
        for name in names:
            forge(public, query, script, [name], {"json_value": NO_JSON})
    first = log.stat().st_size
    # A session that has read no JSON fails at every later message.
    query, script, drawn = pages[0]
    fail_for_ever(public, query, script, ids(drawn, COMPONENTS)[0])
    assert log.stat().st_size < MOST_LOG_BYTES
    assert log.stat().st_size - first < MOST_LOG_BYTES / 3
    assert "\x1b" not in log.read_text()


def distinct(
    pages: list[tuple[str, str, list[Element]]], kinds: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, list[str]]]:
    """The widgets of each page: what stands on every page on one, and what is repeated for samples or targets once."""
    tried: set[str] = set()
    for query, script, drawn in pages:
        names = {alike(name): name for name in ids(drawn, kinds) if alike(name) not in tried}
        tried.update(names)
        yield query, script, list(names.values())


def alike(widget: str) -> str:
    """The key of a widget without the sample or target that it is for."""
    start, _, last = widget.split("-", 2)[-1].partition("-")
    return start if last in REPEATED else widget


def forge(server: Server, query: str, script: str, names: list[str], value: dict[str, object]) -> None:
    """Give each widget of a page the same value; a session that this ends is begun anew."""
    while names:
        with talking(server, **GUEST) as visitor, suppress(TimeoutError):
            while names:
                state = WidgetState(id=names.pop(), **value)  # type: ignore[arg-type]
                visitor.rerun(query, state, page_script_hash=script)
                visitor.until(is_finished, PATIENCE_S)


def fail_for_ever(server: Server, query: str, script: str, name: str) -> None:
    """Have a session read what is no JSON, each time in other words: then only its error is drawn."""
    with talking(server, **GUEST) as visitor:
        for number in range(FAILURES):
            state = WidgetState(id=name, json_value=f"{NO_JSON}{number}")
            visitor.rerun(query, state, page_script_hash=script)
            drawn = [element for message in visitor.until(is_finished) if (element := element_of(message))]
    assert [element.WhichOneof("type") for element in drawn] == ["exception"]


@pytest.mark.promise("limits")
@pytest.mark.attack("abuse 11", "uploads that send a byte now and then: guests', onlookers'")
def test_slow_uploads_shut_out_themselves_alone(public: Server) -> None:
    """Visitors who may not upload take no place among the uploads."""
    own = urlsplit(public.url)
    head = f"POST /upload HTTP/1.1\r\nHost: {own.netloc}\r\nOrigin: http://{own.netloc}\r\nContent-Length: 100000\r\n"
    with ExitStack() as held:
        for _ in range(40):
            slow = held.enter_context(socket.create_connection((own.hostname, own.port), LIMIT_S))
            slow.sendall(f"{head}X-Forwarded-For: 198.51.100.7\r\n\r\nV".encode())
        time.sleep(1.0)
        # What is no log is refused once all of it has come: its upload was taken.
        owners = head.replace("100000", "4") + "\r\nV010"
        assert send(public, owners) == 400


SPELLINGS = (
    "/_stcore/metrics%0a",
    "/_stcore/metrics%0d",
    "/_stcore/metrics%00",
    "/_stcore/metrics%09",
    "/_stcore/metrics%e2%80%a8",
    "/_stcore/metrics%20",
    "/_stcore/metrics.",
    "/_stcore/metrics/.",
    "/_stcore/metrics;a=b",
    "/_stcore/metrics%3b",
    "/_stcore/metrics%23",
    "/_stcore/metrics%3f",
    "/_stcore/metrics?x",
    "/_stcore//metrics",
    "//_stcore/metrics",
    "/./_stcore/metrics",
    "/x/../_stcore/metrics",
    "/%2e%2e/_stcore/metrics",
    "/_stcore/%2e/metrics",
    "/_stcore%2fmetrics",
    "/%5fstcore/m%65trics",
    "/%255fstcore/metrics",
    "/_stcore%252fmetrics",
    "/_STCORE/METRICS",
    "/_stcore\\metrics",
    "http://127.0.0.1/_stcore/metrics%0a",
    "/_stcore/agent/mcp%0a",
    "/_stcore/agent/openapi.json%0a",
    "/_stcore/script-health-check",
    "/_stcore/script-health-check%0a",
)


@pytest.mark.promise("web")
@pytest.mark.attack(
    "abuse 12", "breach 7", "metrics and others in thirty spellings, by GET and HEAD, where code runs and where not"
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", SPELLINGS)
def test_no_spelling_opens_what_is_closed(public: Server, owned: Server, path: str, method: str) -> None:
    """A closed route stays closed in every encoding of its path."""
    for server in (public, owned):
        # 307 leads to a page, never to one of these paths.
        assert ask(server, path, method) in (200, 307, 400, 404)
        body = answer(server, path)
        assert b"_bytes" not in body
        assert b'"openapi"' not in body
        assert not re.search(rb"(?i)\r\nlocation:[^\r?]*(_stcore|metrics|openapi)", body)
