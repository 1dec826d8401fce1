"""Dashboards to attack: one that runs code, as anybody starts it, and one that does not."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.browser import Server, serving
from tests.support.homes import add_scenario

ANOTHER_UID = 65_533
PASS_ON = """
def pour(source, sink):
    while chunk := source.recv(65536):
        sink.sendall(chunk)
    sink.shutdown(socket.SHUT_WR)

listener = socket.create_server(("127.0.0.1", {here}))
print("ready", flush=True)
while True:
    browser, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", {there}))
    for ends in ((browser, server), (server, browser)):
        threading.Thread(target=pour, args=ends, daemon=True).start()
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this directory is an attack."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.attack)


@pytest.fixture(scope="session")
def silent_proxy() -> Iterator[tuple[str, Callable[[], bool]]]:
    """A proxy that never answers, and whether anybody has asked it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)

        def was_asked() -> bool:
            try:
                listener.accept()[0].close()
            except BlockingIOError:
                return False
            return True

        yield f"http://127.0.0.1:{listener.getsockname()[1]}", was_asked


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory, silent_proxy: tuple[str, object]) -> Iterator[Server]:
    """A dashboard as one person starts it on one machine; what it asks of the world goes to the silent proxy."""
    proxies: dict[str, Any] = {"http_proxy": silent_proxy[0], "https_proxy": silent_proxy[0], "no_proxy": ""}
    with serving(tmp_path_factory.mktemp("opened"), **proxies) as server:
        yield server


@pytest.fixture(scope="session")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard that does not run visitors' code, with one run in its store."""
    home = tmp_path_factory.mktemp("closed")
    add_scenario(home, "transformer_block")
    with serving(home, torch=False, COMPILEBOARD_ALLOW_CODE="0") as server:
        yield server


@pytest.fixture
def as_another_user() -> Callable[[str], str]:
    """Runs Python as a user who is not the server's; gives what it prints."""
    _must_be_root()

    def run(code: str) -> str:
        done = subprocess.run(_another_users(code), capture_output=True, timeout=120, check=False)
        assert not done.stderr, done.stderr.decode()
        return done.stdout.decode().strip()

    return run


@pytest.fixture
def other_users_door(closed: Server) -> Iterator[Server]:
    """The closed dashboard through a process of another user's, as that user's browser would come."""
    _must_be_root()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    code = PASS_ON.format(here=port, there=urlsplit(closed.url).port)
    with subprocess.Popen(_another_users(code), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield Server(f"http://127.0.0.1:{port}", closed.home)
        process.terminate()


def _must_be_root() -> None:
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only root can be another user")


def _another_users(code: str) -> list[str]:
    """The interpreter may be out of the other user's reach: it is started, imports, and then lets go of its rights."""
    become = "import os, socket, threading, encodings.idna; os.setgroups([]); os.setgid({0}); os.setuid({0})\n"
    return [sys.executable, "-I", "-S", "-c", become.format(ANOTHER_UID) + code]


def modes(directory: Path) -> dict[str, int]:
    """The permissions of all that is below a directory."""
    return {str(path.relative_to(directory)): stat.S_IMODE(path.lstat().st_mode) for path in directory.rglob("*")}
