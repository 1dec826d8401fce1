"""The header of a record of a TORCH_TRACE log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """The header of one record; its payload stays in the file.

    `kind` is the record's key, or `artifact:NAME` and `graph_dump:NAME` for those two; `body` is the value of the
    key. `compile_id` is `0/1` as torch prints it without the attempt, empty outside a compilation. `offset` and
    `length` say in bytes where the payload lies; `md5` is torch's checksum of it, empty where the record has no
    payload.
    """

    kind: str
    body: Any
    compile_id: str
    attempt: int
    rank: int | None
    timestamp: str
    header_offset: int
    offset: int
    length: int
    md5: str
