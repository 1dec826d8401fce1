"""Graphs and guards as text without what differs between equal ranks: addresses, ids, folders, device indices, groups.

Each line stays one line, so that a line of the normalised text is found again in the log.
"""

from __future__ import annotations

import re

ADDRESS = re.compile(rb"0x[0-9a-fA-F]{4,}")
FOLDERS = re.compile(rb"(?<![\w.])(?:/[\w.+@~=-]+)+/")
DEVICE = re.compile(rb"\b(cuda|xpu|hip|mtia|hpu|npu|mps|maia|privateuseone):\d+")
INDEX = re.compile(rb"(device\(type='\w+'), index=\d+|\b(device=)\d+")
OBJECT_ID = re.compile(rb"(?<![\d.])\d{11,20}(?![\d.])")
# In a guard an id may be short: a process with CUDA has its objects at low addresses.
GUARD_ID = re.compile(rb"(_id\(.*?, )\d+(?=\))|(?<=_)\d{6,20}(?!\d)")
# The number of a rank: `G['rank'] == 3`, `L['self'].local_rank == 3`.
RANK_VALUE = re.compile(rb"(rank['\")\]]{0,4} == )\d+", re.IGNORECASE)
SPACES = re.compile(rb" {2,}")
LATENCY = re.compile(rb"^.*Guard (?:eval )?latency.*$", re.MULTILINE)
LAST_GROUP = re.compile(
    rb"""(torch\.ops\.(?:_c10d_functional|_c10d_functional_autograd|c10d|_dtensor)\.[^\n;]*,\s*)['"]([^'"]*)['"]\)"""
)


def normalised(text: bytes) -> bytes:
    """Return a text without addresses, object ids, folders, device indices and names of process groups."""
    text = FOLDERS.sub(b"", ADDRESS.sub(b"0x", text))
    text = INDEX.sub(rb"\1\2", DEVICE.sub(rb"\1", text))
    text = OBJECT_ID.sub(b"id", text)
    return _without_group_names(text) if b"c10d" in text else text


def _without_group_names(text: bytes) -> bytes:
    """Number the process groups of a text by first use."""
    numbers: dict[bytes, int] = {}

    def number(match: re.Match[bytes]) -> bytes:
        place = numbers.setdefault(match[2], len(numbers))
        return match[1] + b"'group %d')" % place

    return LAST_GROUP.sub(number, text)


def normalised_guards(text: bytes) -> bytes:
    """Return the lines of a guard tree in one order, without what differs between equal ranks."""
    # torch aligns the comments, so that an id of another length moves them.
    same = RANK_VALUE.sub(rb"\1rank", GUARD_ID.sub(rb"\1id", normalised(LATENCY.sub(b"", text))))
    lines = SPACES.sub(b" ", same).split(b"\n")
    return b"\n".join(sorted(line.strip() for line in lines))
