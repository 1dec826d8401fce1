"""Streamlit's WebSocket without a browser: messages that no page of ours sends, states that none holds, and hanging
up.
"""

import re
from pathlib import Path
from typing import Any

import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets.exceptions import ConnectionClosed

from pages import menu
from pages.gate.middleware import is_heeded
from pages.gate.visitor import NO_GATE
from tests.attack.talk import element_of, id_of, is_finished, pressed, talking, widget, words
from tests.support.browser import Server, serving
from tests.support.homes import add_run
from tests.support.places import ROOT
from tests.support.sample import one_in

ONLOOKER = {"Via": "a proxy"}
MANY_RUNS = 300
DRAWN = f"$$ID-{'0' * 32}-compile-code"
ESCAPE = "\x1b]0;owned\x07"
# With torch, and without.
FORK_SERVERS = {"core.worker", str(ROOT / "tests" / "support" / "torchless" / "answers.py")}
REDACTED = "The original error message is redacted"


def runs(server: Server) -> set[Path]:
    return set((server.home / "runs").iterdir())


def engines(server: Server) -> int:
    """How many fork servers a dashboard has started."""
    port = server.url.rpartition(":")[2]
    every = [found.info for found in psutil.process_iter(["pid", "ppid", "cmdline"]) if found.info["cmdline"]]
    board = next(info["pid"] for info in every if port in info["cmdline"] and "streamlit" in info["cmdline"])
    return sum(not FORK_SERVERS.isdisjoint(info["cmdline"]) for info in every if info["ppid"] == board)


def message(**parts: Any) -> bytes:
    """A message from a browser."""
    return bytes(BackMsg(**parts).SerializeToString())


def framed(*states: WidgetState, query: str = "") -> bytes:
    return message(rerun_script=ClientState(query_string=query, widget_states=WidgetStates(widgets=states)))


@pytest.mark.promise("users")
@pytest.mark.attack("abuse 1", "another user presses Compile and hangs up while the page is being made")
def test_one_who_has_hung_up_is_not_taken_for_the_owner(tmp_path: Path) -> None:
    """A closed connection has no rights, even if it closes while its request is being handled.

    Looking for an earlier run of the same job takes a while where there are many, between the button and the run.
    """
    for _ in range(MANY_RUNS):
        add_run(tmp_path, "x", None, job={"model": {"kind": "sample", "value": "mlp"}})
    with serving(tmp_path, torch=False, COMPILEBOARD_ALLOW_CODE="0") as server:
        before = runs(server)
        for _ in range(10):
            with talking(server, **ONLOOKER) as visitor:
                button = widget(visitor.page("sample=mlp"), "compile-sample")
                visitor.rerun("sample=mlp", pressed(button))
                visitor.until(lambda told: bool(id_of(element_of(told), "compile-sample")) or is_finished(told))
                visitor.hang_up()
        with talking(server) as owner:
            owner.page()
        assert runs(server) == before


@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 2", "`clear_cache` over the WebSocket, which empties the caches of all visitors")
def test_no_visitor_empties_the_caches_of_all(closed: Server) -> None:
    """A visitor cannot empty the server's caches or start a second engine."""
    with talking(closed) as visitor:
        visitor.page()
        before = engines(closed)
        for _ in range(3):
            visitor.send(BackMsg(clear_cache=True))
            visitor.page()
        assert engines(closed) == before


@pytest.mark.promise("users")
@pytest.mark.attack("abuse 3", "the pages served without the gate, visited with a forged word of who it is")
@pytest.mark.parametrize("script", one_in(2, ["pages/app.py", f"pages/{menu.RUNS.script}"]))
def test_without_the_gate_nothing_is_shown(tmp_path: Path, script: str) -> None:
    """Pages that are served without the gate show nothing."""
    add_run(tmp_path, "secret_name", None)
    forged = {"X-Compileboard-Visitor": "owner"}
    with serving(tmp_path, script=script, torch=False) as server, talking(server, **forged) as visitor:
        drawn = visitor.page()
        assert NO_GATE in words(drawn)
        assert "secret_name" not in str(drawn)


@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 2", "messages of Streamlit's for developers, text, giant frames")
def test_only_what_a_page_sends_is_heeded() -> None:
    """Only messages that a page sends are handled; Streamlit's developer messages and giant frames are not."""
    for_developers = (
        "clear_cache",
        "set_run_on_save",
        "load_git_info",
        "debug_disconnect_websocket",
        "debug_shutdown_runtime",
    )
    assert not any(is_heeded(message(**{name: True})) for name in for_developers)
    many, long = framed(*[pressed(DRAWN)] * 3_000), framed(query="a" * 30_000)
    assert [is_heeded(frame) for frame in (None, b"", b"\0" * 9_000_000, many, long)] == [False] * 5
    assert is_heeded(framed(pressed(DRAWN), pressed(f"$$STREAMLIT_INTERNAL_KEY_{DRAWN}__events"), query="run=1"))
    assert all(is_heeded(message(**{name: True})) for name in ("stop_script", "app_heartbeat"))


@pytest.mark.promise("messages")
@pytest.mark.attack("abuse 4", "names of widgets that would be printed into the owner's terminal")
@pytest.mark.parametrize("name", ["runner", "", f"{DRAWN}{ESCAPE}", ESCAPE, "x" * 5_000_000, f"{DRAWN}{'x' * 9999}"])
def test_a_widget_that_was_never_drawn_is_not_heeded(name: str) -> None:
    """Messages with an invented widget name are ignored, and nothing of them is printed."""
    assert not is_heeded(framed(pressed(DRAWN), pressed(name)))


@pytest.mark.promise("messages")
@pytest.mark.attack(
    "permission 2", "abuse 4", "forged states of widgets that are drawn: other types, other values, no JSON"
)
def test_forged_states_are_an_error_of_their_own_session_alone(closed: Server) -> None:
    """Forged widget states cause an error in their own session at most."""
    before = runs(closed)
    with talking(closed) as visitor:
        drawn = visitor.page()
        run, keys = (widget(drawn, name) for name in ("run", "page-keys"))
        for state in (
            WidgetState(id=run, string_value="../../../etc"),
            WidgetState(id=run, int_value=2**62),
            WidgetState(id=run, json_value="[["),
            WidgetState(id=run, bytes_value=b"\xff"),
            WidgetState(id=keys, json_value="[" * 100_000),
            WidgetState(id=keys, json_value='{"pressed": {"a": 1}}'),
            WidgetState(id=keys, json_value=f'{{"pressed": {"9" * 100_000}}}'),
            WidgetState(id=DRAWN, trigger_value=True),
        ):
            told = words(visitor.page("", state))
            assert "Traceback" not in told
    with talking(closed) as other:
        assert REDACTED not in words(other.page())
    assert runs(closed) == before
    assert ESCAPE not in (closed.home / "server.log").read_text()


@pytest.mark.promise("messages")
@pytest.mark.attack("permission 2", "abuse 4", "forged pages, fragments and addresses")
def test_forged_pages_and_addresses_show_a_page_of_ours(closed: Server) -> None:
    """Forged page names, fragments and addresses show the start page."""
    with talking(closed) as visitor:
        for query, fields in (
            ("run=..%2F..%2Fetc&select=%00&compilation=%ED%A0%80", {}),
            ("&".join(f"a{number}=b" for number in range(2000)), {}),
            ("", {"page_name": "../../core/runs/store"}),
            ("", {"page_script_hash": "0" * 32}),
            ("", {"page_script_hash": "../../etc/passwd"}),
        ):
            assert "What does torch.compile do to your model?" in words(visitor.page(query, **fields))


@pytest.mark.attack("abuse 4", "a frame that is no message")
@pytest.mark.parametrize("frame", [b"\xff" * 100, b"\x5a\xff\xff\x03" + b"\x12" * 70_000])
def test_a_frame_that_is_no_message_ends_its_own_connection(closed: Server, frame: bytes) -> None:
    with talking(closed) as visitor, talking(closed) as other:
        visitor.connection.send(frame)
        with pytest.raises(ConnectionClosed):
            visitor.page()
        assert re.search(r"What does torch\.compile", words(other.page()))
