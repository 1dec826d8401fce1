"""A reader of the accelerator's files that shares nothing with ours: from docs/program-format.md and `struct` alone."""

import struct
from dataclasses import dataclass

HEADER, ENTRY, NO_PLACE = 64, 32, 2**64 - 1
INPUT, TEMPORARY = 1, 3
ARGUMENT, RESULT = 1, 2


@dataclass(frozen=True, slots=True)
class PlainFacts:
    """What a file says of itself: bytes, ops of its instructions, inputs, the arena's end, constants."""

    bytes: int
    ops: tuple[int, ...]
    inputs: int
    arena_bytes: int
    constant_bytes: int


def plain_facts(data: bytes) -> PlainFacts:
    """Count what lies in a file."""
    assert data[:8] == b"\x89CBP\r\n\x1a\n"
    _, count, size = struct.unpack_from("<IIQ", data, 8)
    entries = [struct.unpack_from("<IIQQ", data, HEADER + ENTRY * index) for index in range(count)]
    section = {kind: data[offset : offset + length] for kind, _, offset, length in entries}
    storages = list(struct.iter_unpack("<IIQQQ", section[2]))
    placed = [(place, length) for kind, _, length, place, _ in storages if kind == TEMPORARY and place != NO_PLACE]
    return PlainFacts(
        bytes=size,
        ops=tuple(fields[0] for fields in struct.iter_unpack("<8I", section[4])),
        inputs=sum(kind == INPUT for kind, *_ in storages),
        arena_bytes=max((place + (length + 63) // 64 * 64 for place, length in placed), default=0),
        constant_bytes=len(section[6]),
    )
