"""What the server prints at its start, what is asked of torch meanwhile, and what it answers to its health check."""

import http.server
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import streamlit as st
from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest as Operation
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BackMsg_pb2 import DeferredFileRequestPayload as File
from streamlit.proto.BackMsg_pb2 import InstallSkillsRequestPayload as Skills

from core import Environment, JobError
from pages.gate import greeting, middleware
from pages.gate.health import healthy
from pages.gate.middleware import is_heeded
from pages.session import server
from pages.session.server import environment


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({"server.port": 8501}, "http://localhost:8501"),
        ({"server.port": 80, "server.address": "0.0.0.0"}, "http://localhost:80"),
        ({"server.port": 8501, "server.address": "10.0.0.7"}, "http://10.0.0.7:8501"),
        ({"server.port": 8501, "server.address": "::1"}, "http://[::1]:8501"),
        ({"server.port": 8501, "server.address": "::"}, "http://localhost:8501"),
        ({"server.port": 8501, "server.baseUrlPath": "/board/"}, "http://localhost:8501/board"),
        ({"server.port": 8501, "server.sslCertFile": "cert.pem"}, "https://localhost:8501"),
    ],
)
def test_the_address_that_is_printed_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], url: str
) -> None:
    monkeypatch.setattr(st, "get_option", options.get)
    assert greeting._url() == url


class Answers(http.server.BaseHTTPRequestHandler):
    status, body = 200, b"ok"
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(Answers, "asked", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as answering:
        thread = threading.Thread(target=answering.serve_forever, args=(0.01,))
        thread.start()
        yield answering.server_port
        answering.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "well"),
    [(200, b"ok", True), (200, b"starting", False), (200, b"ok, but", False), (503, b"ok", False), (200, b"", False)],
)
def test_a_server_is_healthy_that_says_so(
    port: int, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, well: bool
) -> None:
    monkeypatch.setattr(Answers, "status", status)
    monkeypatch.setattr(Answers, "body", body)
    assert healthy(port) is well
    assert healthy(port, "/board/") is well
    assert Answers.asked == ["/_stcore/health", "/board/_stcore/health"]


def test_a_server_that_is_not_there_is_not_healthy(port: int) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as gone:
        free = gone.server_port
    assert not healthy(free)


def rerun(query: str = "", *widgets: str) -> Message:
    message = BackMsg()
    message.rerun_script.query_string = query
    for name in widgets:
        message.rerun_script.widget_states.widgets.add().id = name
    return message


WIDGET = "$$ID-" + "0" * 32 + "-key"


@pytest.mark.promise("messages")
@pytest.mark.parametrize(
    ("message", "answered"),
    [
        (rerun(), True),
        (rerun("run=a", WIDGET), True),
        (rerun("q" * middleware.MOST_QUERY_CHARS), True),
        (rerun("q" * (middleware.MOST_QUERY_CHARS + 1)), False),
        (rerun("", *[WIDGET] * middleware.MOST_WIDGETS), True),
        (rerun("", *[WIDGET] * (middleware.MOST_WIDGETS + 1)), False),
        (rerun("", WIDGET, "secret"), False),
        (BackMsg(clear_cache=True), False),
        (BackMsg(stop_script=True), True),
        (BackMsg(backend_operation_request=Operation(deferred_file=File(file_id="a1"))), True),
        (BackMsg(backend_operation_request=Operation(deferred_file=File(file_id="\x1b[2J"))), False),
        (BackMsg(backend_operation_request=Operation(request_id="\n", deferred_file=File(file_id="a1"))), False),
        (BackMsg(backend_operation_request=Operation(install_skills=Skills())), False),
        (BackMsg(backend_operation_request=Operation()), False),
    ],
)
def test_a_page_says_what_pages_say(message: Message, answered: bool) -> None:
    """A WebSocket message has bounded sizes and known kinds; none installs anything on the server."""
    assert is_heeded(message.SerializeToString()) is answered


def test_a_message_is_as_long_as_the_bound_at_most() -> None:
    frame = rerun("run=a").SerializeToString()
    assert [is_heeded(frame, len(frame) - less) for less in (0, 1)] == [True, False]
    assert not is_heeded(None)


@pytest.mark.parametrize(("compiler", "warmed"), [("g++", 1), ("", 0)])
def test_what_a_compiler_can_build_ahead_is_built_while_the_page_is_there(
    monkeypatch: pytest.MonkeyPatch, compiler: str, warmed: int
) -> None:
    calls: list[str] = []
    found = Environment(torch="2.13.0", compiler=compiler)
    engine = SimpleNamespace(
        environment=lambda: found, warm_up=lambda: calls.append("warm up"), nodes=lambda device: ("",)
    )
    monkeypatch.setattr(server, "the_runner", lambda: SimpleNamespace(engine=engine))
    st.cache_resource.clear()
    try:
        assert server._environment().result(30) == found
        assert environment() == found
    finally:
        st.cache_resource.clear()
    assert len(calls) == warmed


def test_a_torch_that_cannot_start_is_a_problem_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Environment:
        raise JobError("torch", "it is not installed")

    engine = SimpleNamespace(environment=ask, nodes=lambda device: ("",))
    monkeypatch.setattr(server, "the_runner", lambda: SimpleNamespace(engine=engine))
    st.cache_resource.clear()
    try:
        assert server._environment().exception(30) is not None
        assert environment() == Environment(problem="torch: it is not installed")
    finally:
        st.cache_resource.clear()
