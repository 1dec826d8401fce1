"""The port of a dashboard that a command starts."""

import socket
from pathlib import Path

import pytest

from core.commands.main import main
from core.commands.output import FAILED


@pytest.mark.parametrize("more", [(), ("--processes", "2")])
def test_a_port_that_another_process_has_is_refused_before_its_address_is_printed(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["dashboard", "--port", str(port), "--no-browser", *more]) == FAILED
    assert capsys.readouterr() == ("", f"port {port} is taken; choose another one with --port\n")
