"""What a fork server is asked, and what it says: one JSON object a line, whose `type` names one of these classes.

→ Start        ← Started, or Failed; later Ended
→ Probe        ← Probed
→ WarmUp       ← Started; later Ended
               ← Ready, or Failed and the end: the first line
               ← Alive, every second
"""

from __future__ import annotations

import msgspec

from core.base.decoder import decoded_as
from core.base.machine import Environment


class Start(msgspec.Struct, frozen=True, tag=True):
    """Fork the keeper of a run directory."""

    run: str


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Tell what torch can do on this machine."""


class WarmUp(msgspec.Struct, frozen=True, tag=True):
    """Have the precompiled header of C++ kernels built by a process of its own."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """It has imported torch, and listens."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """What was asked for cannot be had, and why."""

    why: str


class Started(msgspec.Struct, frozen=True, tag=True):
    """A process was forked."""

    pid: int


class Probed(msgspec.Struct, frozen=True, tag=True):
    """What torch can do here."""

    environment: Environment


class Ended(msgspec.Struct, frozen=True, tag=True):
    """A forked process has ended, with all that came of it."""

    pid: int


class Alive(msgspec.Struct, frozen=True, tag=True):
    """It does not hang."""


Request = Start | Probe | WarmUp
Answer = Ready | Failed | Started | Probed | Ended | Alive


def written(message: Request | Answer) -> bytes:
    """A message as its line."""
    return msgspec.json.encode(message) + b"\n"


def request(line: bytes) -> Request:
    """The request of a line; raises DecodeError."""
    found: Request = decoded_as(line, Request)
    return found


def answer(line: bytes) -> Answer:
    """The answer of a line; raises DecodeError."""
    found: Answer = decoded_as(line, Answer)
    return found
