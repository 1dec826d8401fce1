"""A record's payload on the command line: byte for byte into a file, and without control characters on a terminal."""

import io
import sys
from pathlib import Path

import pytest

from core.commands.main import main
from core.commands.output import OK
from tests.support.logs import record

PAYLOAD = "a\x1b]0;title\x07\x1b[2J\r\n\tb"


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "shown"),
    [(io.TextIOWrapper, "\t" + PAYLOAD.replace("\n", "\n\t") + "\n"), (Terminal, "\ta�]0;title��[2J�\n\t\tb\n\n")],
)
def test_a_payload_does_not_control_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: type[io.TextIOWrapper], shown: str
) -> None:
    (tmp_path / "trace.log").write_bytes(record({"a": 1}, PAYLOAD))
    written = io.BytesIO()
    output = stream(written, encoding="utf-8", newline="\n")
    monkeypatch.setattr(sys, "stdout", output)
    assert main(["artifacts", str(tmp_path / "trace.log"), "--show", "0"]) == OK
    output.flush()
    assert written.getvalue().decode() == shown
