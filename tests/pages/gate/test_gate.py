"""The gate: which hosts, origins and users are let in, on literal requests and on real sockets."""

import os
import socket
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.gate import middleware
from pages.gate.greeting import words
from pages.gate.middleware import VISITOR, Socket, read, uid_of
from pages.gate.rules import Rules, Visitor, VisitorRequest, is_ours, is_private, name_of
from pages.gate.rules import rules as rules_of_the_server
from tests.support.gates import ASKED, HANDSHAKE, HOSTS, LOOKING, MINE, PUBLIC, through


def status(rules: Rules, asked: VisitorRequest) -> int:
    found = rules.refusal(asked)
    return found.status if found else 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil", "127.0.0.1.evil:8501", "0.0.0.0:8501", "localhost@evil", "localhost/",
     "localhost:8501:1", "127.0.0.1 ", "local host", "[::1", "*", "localhost:123456", "2130706433", "127.1"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/app/static/icon.png", "/_stcore/health", "/graph/0/all", "/_stcore/stream"])
def test_a_foreign_host_is_answered_nowhere(host: str, path: str) -> None:
    assert status(LOOKING, replace(ASKED, hosts=(host,), path=path)) == 400


def test_a_request_has_one_host() -> None:
    assert status(MINE, replace(ASKED, hosts=())) == 400
    assert status(MINE, replace(ASKED, hosts=("127.0.0.1", "127.0.0.1"))) == 400


@pytest.mark.parametrize("host", ["localhost:8501", "LOCALHOST", "localhost.", "127.0.0.1", "[::1]:8501"])
def test_loopback_is_ours(host: str) -> None:
    assert status(MINE, replace(ASKED, hosts=(host,))) == 200


def test_hosts_may_be_patterns() -> None:
    allowed = ("*.example.org", "one.test")
    names = ("a.example.org", "one.test", "example.org", "aexample.org", "b.test")
    assert [is_ours(name, allowed) for name in names] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert is_ours("any.thing", ["*"])


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "file://", "http://127.0.0.1:9999", "http://127.0.0.1", "https://127.0.0.1:8501",
     "http://localhost:8501", "http://localhost.evil:8501", "http://0.0.0.0:8501", "http://127.0.0.1:8501/",
     "http://127.0.0.1:8501.evil", "http://x@127.0.0.1:8501", "", "HTTP://127.0.0.1:8501", "https://a.streamlit.app"],
)  # fmt: skip
def test_a_foreign_origin_is_refused_for_every_method(origin: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "WEBSOCKET"):
        assert status(MINE, replace(ASKED, method=method, origins=(origin,))) == 403


def test_what_changes_something_must_say_its_origin_and_only_one() -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "WEBSOCKET"):
        asked = replace(HANDSHAKE, method=method)
        assert status(MINE, asked) == 200
        assert status(MINE, replace(asked, origins=())) == 403
        assert status(MINE, replace(asked, origins=asked.origins * 2)) == 403
    assert status(MINE, replace(ASKED, origins=())) == 200


def test_behind_a_proxy_the_origin_is_that_of_the_page() -> None:
    asked = replace(
        HANDSHAKE, hosts=("board.example.org",), origins=("https://board.example.org",), scheme="https", forwarded=True
    )
    assert status(PUBLIC, asked) == 200
    assert status(PUBLIC, replace(asked, scheme="http")) == 403


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/base/_stcore/metrics",
        "/_stcore/agent/mcp",
        "/_stcore/upload_file/a/b",
        "/_STCORE/metrics",
        "//_stcore/metrics",
        "/x/../_stcore/metrics",
        "/_stcore/./metrics",
        "/_stcore/metrics;x",
        "/_stcore/metrics.",
        "/_stcore/metrics ",
        "/_stcore/%6detrics",
        "/_stcore/script-health-check",
        "/_stcore/health/",
        "/_stcore/what-comes-next",
        "/overview/_stcore/health",
    ],
)
def test_the_metrics_the_way_for_programs_and_uploads_into_memory_are_closed(path: str) -> None:
    assert status(PUBLIC, replace(ASKED, path=path)) == 404


@pytest.mark.promise("web")
@pytest.mark.parametrize("path", ["/_stcore/metrics\n", "/_stcore/metrics\x00", "/\r", "/overview\x85", "/\x7f"])
def test_a_path_with_a_control_character_is_refused(path: str) -> None:
    """A path with a control character is refused.

    A router may match before the end of a line, where the gate asks for all of a path.
    """
    assert status(PUBLIC, replace(ASKED, path=path)) == 400


@pytest.mark.parametrize("changes", [{"uid": 1001}, {"uid": 0}, {"uid": None}, {"forwarded": True}])
def test_where_code_is_allowed_only_the_owner_enters(changes: dict[str, Any]) -> None:
    for asked in (ASKED, HANDSHAKE, replace(ASKED, path="/overview")):
        assert status(MINE, asked) == 200
        stranger = replace(asked, **changes)
        assert status(MINE, stranger) == 403
        assert status(MINE, replace(stranger, token="s3cret")) == 200
        assert status(MINE, replace(stranger, token="s3cre")) == 403
        assert status(MINE, replace(stranger, cookie=MINE.cookie_for(stranger.uid))) == 200
        assert status(MINE, replace(stranger, cookie="s3cret")) == 403
    assert status(MINE, replace(ASKED, path="/_stcore/health", **changes)) == 200


def test_a_proxy_of_the_owners_is_not_the_owner() -> None:
    rules = replace(PUBLIC, code=True)
    asked = replace(ASKED, hosts=("board.example.org",))
    assert status(rules, asked) == 403
    assert status(rules, replace(asked, hosts=("127.0.0.1:8501",))) == 200


def test_the_cookie_of_one_user_is_of_no_use_to_another() -> None:
    stolen = MINE.cookie_for(1001)
    assert status(MINE, replace(ASKED, uid=1001, cookie=stolen)) == 200
    assert status(MINE, replace(ASKED, uid=1002, cookie=stolen)) == 403


def test_another_user_may_look_where_code_is_not_allowed_and_anybody_is_a_guest_of_a_public_server() -> None:
    other = replace(ASKED, uid=1001)
    assert status(LOOKING, other) == 200
    assert (LOOKING.visitor(other), LOOKING.visitor(ASKED)) == (Visitor.ONLOOKER, Visitor.OWNER)
    assert (PUBLIC.visitor(other), PUBLIC.visitor(ASKED)) == (Visitor.GUEST, Visitor.OWNER)
    assert LOOKING.visitor(replace(other, token="s3cret")) is Visitor.OWNER


def test_a_server_is_private_by_its_address_and_its_hosts() -> None:
    assert is_private("127.0.0.1", HOSTS)
    assert not is_private("0.0.0.0", HOSTS)
    assert not is_private("127.0.0.1", ("board.example.org",))
    assert not is_private("127.0.0.1", ("*",))
    assert not is_private(None, HOSTS)


@given(st.text(), st.text(), st.text())
def test_no_request_raises(host: str, origin: str, token: str) -> None:
    asked = VisitorRequest("WEBSOCKET", "/", (host,), (origin,), token=token, cookie=token)
    assert name_of(host) is None or isinstance(name_of(host), str)
    assert status(MINE, asked) in (400, 403)


def connected() -> tuple[socket.socket, socket.socket, socket.socket]:
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    return listener, client, listener.accept()[0]


def test_the_kernel_says_whose_socket_it_is_until_it_is_closed() -> None:
    listener, client, server = connected()
    with listener, server:
        here, there = client.getsockname(), server.getsockname()
        with client:
            assert uid_of(here, there) == os.getuid()
            assert uid_of(("127.0.0.1", 1), there) is None
            assert uid_of(("::ffff:127.0.0.1", here[1]), there) == os.getuid()
            assert uid_of(("board", here[1]), there) is None
        assert uid_of(here, there) is None


def test_the_tables_of_the_kernel_say_the_same_as_its_diagnosis() -> None:
    listener, client, server = connected()
    with listener, client, server:
        here, there = ((middleware._plain(host), port) for host, port in (client.getsockname(), server.getsockname()))
        assert middleware._by_table(here, there) == middleware._by_diagnosis(here, there)


HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
ROW = "   0: {} {} {:02X} 00000000:00000000 00:00000000 00000000  {}        0 {} 1 0 20 4 30 10 -1\n"
V4, V6 = "0100007F:C350", "0000000000000000FFFF00000100007F:C350"


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ((V4, "0100007F:2135", 1, 1000, 77), Socket(1, 1000, 77)),
        ((V6, "0000000000000000FFFF00000100007F:2135", 1, 1000, 77), Socket(1, 1000, 77)),
        ((V4, "0100007F:2136", 1, 1000, 77), None),
        ((V4, "0100007F:2135", 6, 0, 0), Socket(6, 0, 0)),
    ],
)
def test_a_table_is_read_as_the_kernel_writes_it(tmp_path: Path, row: tuple[Any, ...], found: Socket | None) -> None:
    table = tmp_path / "tcp"
    table.write_text(HEAD + ROW.format(*row))
    ends = (middleware._plain("127.0.0.1"), 50000), (middleware._plain("127.0.0.1"), 8501)
    assert middleware._by_table(*ends, tables=(str(tmp_path / "none"), str(table))) == found


def test_a_socket_that_no_process_holds_is_nobodys() -> None:
    """The kernel says that it is root's."""
    held = [Socket(1, 0, 77).is_open, Socket(1, 0, 0).is_open, Socket(4, 0, 77).is_open, Socket(6, 0, 0).is_open]
    assert held == [True, False, False, False]


def test_where_the_kernel_cannot_be_asked_nobody_is_known() -> None:
    with pytest.raises(OSError, match="denied"):
        middleware._read_diagnosis(struct.pack("=IHHIIi", 36, 2, 0, 1, 0, -13))
    assert middleware._read_diagnosis(struct.pack("=IHHIIi", 36, 2, 0, 1, 0, -2)) is None
    ends = (middleware._plain("127.0.0.1"), 50000), (middleware._plain("127.0.0.1"), 8501)
    assert middleware._by_table(*ends, tables=("/nowhere",)) is None


def test_a_request_is_read_with_its_sender_and_the_address_that_it_came_to() -> None:
    scope = {"type": "http", "method": "GET", "path": "/guards", "scheme": "http", "headers": [(b"Host", b"127.0.0.1")]}
    asked = VisitorRequest("GET", "/guards", ("127.0.0.1",), here="127.0.0.1")
    listener, client, server = connected()
    with listener, client, server:
        ends = {"client": client.getsockname(), "server": server.getsockname()}
        assert read({**scope, **ends}) == replace(asked, uid=os.getuid())
    assert read({**scope, "client": None, "server": ("127.0.0.1", 8501)}) == asked
    assert read(scope) == replace(asked, here="")


def test_the_servers_own_start_and_end_pass_the_gate_as_they_are() -> None:
    sent, passed = through(MINE, type="lifespan", headers=[])
    assert (len(sent), passed and (passed["type"], passed["headers"])) == (1, ("lifespan", []))


def test_a_refused_handshake_is_closed_before_it_is_accepted() -> None:
    assert through(MINE, type="websocket", scheme="ws") == (
        [{"type": "websocket.close", "code": 1008, "reason": ""}], None,
    )  # fmt: skip


def test_the_secret_becomes_a_cookie_that_scripts_and_other_sites_cannot_use() -> None:
    (start, _), passed = through(MINE, query_string=b"run=a%2Fb&token=s3cret&x=")
    headers = dict(start["headers"])
    assert (passed, start["status"], headers[b"location"]) == (None, 303, b"?run=a%2Fb&x=")
    cookie = f"compileboard-8501={MINE.cookie_for(None)}"
    assert headers[b"set-cookie"].decode() == f"{cookie}; Path=/; HttpOnly; SameSite=Strict"
    shown = [(b"host", b"127.0.0.1:8501"), (b"cookie", f"a=b; broken; {cookie}".encode())]
    assert through(MINE, headers=shown)[1] is not None
    assert through(MINE, headers=shown, server=("127.0.0.1", 8502))[1] is None


def test_processes_of_one_dashboard_know_each_others_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s" * 40
    monkeypatch.setenv("COMPILEBOARD_GROUP", f"8501:{secret}")
    group = rules_of_the_server()
    assert (group.group, group.secret, "COMPILEBOARD_GROUP" in os.environ) == (8501, secret, False)
    mine = replace(MINE, group=8501)
    shown = [(b"host", b"127.0.0.1:8503"), (b"cookie", f"compileboard-8501={mine.cookie_for(None)}".encode())]
    assert through(mine, headers=shown, server=("127.0.0.1", 8503))[1] is not None
    assert through(MINE, headers=shown, server=("127.0.0.1", 8503))[1] is None


@pytest.mark.parametrize("value", ["", "8501", "8501:short", f"x:{'s' * 40}", f"8501:{'s' * 40}\n"])
def test_another_value_makes_no_group(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("COMPILEBOARD_GROUP", value)
    own = rules_of_the_server()
    assert (own.group, len(own.secret), own.secret in value) == (None, 43, False)


def test_over_https_the_cookie_is_for_https_alone() -> None:
    headers = [(b"host", b"board.example.org"), (b"x-forwarded-proto", b"https, http")]
    (start, _), _ = through(PUBLIC, query_string=b"token=s3cret", headers=headers)
    assert dict(start["headers"])[b"set-cookie"].endswith(b"SameSite=Strict; Secure")


@pytest.mark.promise("users")
def test_a_visitor_cannot_say_who_it_is() -> None:
    """The gate decides who a visitor is; claims in the visitor's headers are replaced."""
    headers = [(b"host", b"127.0.0.1:8501"), (VISITOR.title().encode(), b"owner")]
    _, passed = through(LOOKING, headers=headers)
    assert passed is not None
    assert passed["headers"] == [headers[0], (VISITOR.encode(), b"onlooker")]


def test_the_secret_is_printed_for_those_who_may_need_it() -> None:
    assert words(MINE, "http://127.0.0.1:8501", True).splitlines()[1:] == [
        "  Compileboard: http://127.0.0.1:8501",
        "  As another user of this machine: http://127.0.0.1:8501/?token=s3cret",
    ]
    assert "s3cret" in words(MINE, "http://127.0.0.1:8501", False).splitlines()[1]
    assert words(PUBLIC, "http://127.0.0.1:8501", True).splitlines()[1:] == [
        "  Compileboard: http://127.0.0.1:8501",
        "  As its owner, who may delete all runs: http://127.0.0.1:8501/?token=s3cret",
    ]
    assert "s3cret" not in repr(MINE)
