"""Messages to and from a fork server: one JSON object a line, with the class name in `type`.

→ Start        ← StartMessage, or FailureMessage; later EndMessage
→ Probe        ← ProbeResult
→ WarmUp       ← StartMessage; later EndMessage
               ← Ready, or FailureMessage and the end: the first line
               ← Alive, every second
"""

from __future__ import annotations

import msgspec

from core.base.decoder import decoded_as
from core.base.machine import Environment


class Start(msgspec.Struct, frozen=True, tag=True):
    """Request to fork the supervisor of a run directory, whose name on a node is not the run's id."""

    run: str
    id: str


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Request for torch's capabilities on this machine."""


class WarmUp(msgspec.Struct, frozen=True, tag=True):
    """Request to build the precompiled header of C++ kernels in a separate process."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """Message that the fork server has imported torch and accepts requests."""


class FailureMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a request failed, with the reason."""

    why: str


class StartMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a process was forked."""

    pid: int


class ProbeResult(msgspec.Struct, frozen=True, tag=True):
    """Versions, devices and backends of torch on this machine."""

    environment: Environment


class EndMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a forked process has ended, with all its descendants."""

    pid: int


class Alive(msgspec.Struct, frozen=True, tag=True):
    """Message that the fork server isn't hanging."""


Request = Start | Probe | WarmUp
Answer = Ready | FailureMessage | StartMessage | ProbeResult | EndMessage | Alive


def written(message: Request | Answer) -> bytes:
    """Return a message as a line."""
    return msgspec.json.encode(message) + b"\n"


def request(line: bytes) -> Request:
    """Parse a request line; raises DecodeError."""
    parsed: Request = decoded_as(line, Request)
    return parsed


def answer(line: bytes) -> Answer:
    """Parse a result line; raises DecodeError."""
    parsed: Answer = decoded_as(line, Answer)
    return parsed
