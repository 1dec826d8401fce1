"""Diffs of texts, bounded in time and length, and texts normalized for a comparison of ranks.

Ranks that compile the same still differ in addresses, ids, folders, device indices and group names; these are removed.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 3
MAX_DIFF_LINES = 4_000  #: limit: lines of a diff
MAX_DIFFED_LINES = 12_000  #: limit: lines of a text that is compared
LOCATION = re.compile(r" ?loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)")
LOCATION_ENTRY = re.compile(r"^#loc\d* = .*\n?", re.MULTILINE)
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


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A unified diff, with the numbers of added and removed lines; `left_out` lines are not shown."""

    text: str
    added: int
    removed: int
    left_out: int


def diff_texts(left: str, right: str, left_name: str, right_name: str, limit: int = MAX_DIFF_LINES) -> TextDiff:
    """Return the diff of two texts; see `_unified_diff` for very long ones."""
    lines = list(_unified_diff(left.splitlines(), right.splitlines(), left_name, right_name))
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    return TextDiff("\n".join(lines[:limit]), added, removed, max(0, len(lines) - limit))


def without_locations(module: str) -> str:
    """Return MLIR text without debug locations, which differ after any edit of the source."""
    return LOCATION.sub("", LOCATION_ENTRY.sub("", module)).strip()


def _unified_diff(left: Sequence[str], right: Sequence[str], left_name: str, right_name: str) -> Iterator[str]:
    """Yield the unified diff of the lines from the first to the last difference.

    `difflib` takes quadratic time, so beyond `MAX_DIFFED_LINES` all these lines count as changed.
    """
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    first = max(0, start - CONTEXT)
    keep = max(0, end - CONTEXT)
    before, after = left[first : len(left) - keep], right[first : len(right) - keep]
    if not start < max(len(left), len(right)) - end:
        return
    if max(len(before), len(after)) > MAX_DIFFED_LINES:
        yield from (
            f"--- {left_name}",
            f"+++ {right_name}",
            f"@@ -{first + 1},{len(before)} +{first + 1},{len(after)} @@",
        )
        yield from (f"-{line}" for line in before)
        yield from (f"+{line}" for line in after)
        return
    for line in difflib.unified_diff(before, after, left_name, right_name, n=CONTEXT, lineterm=""):
        yield _move_hunk(line, first) if line.startswith("@@") else line


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = zip(left, right, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _move_hunk(header: str, lines: int) -> str:
    """Return a hunk's header with its line numbers increased by `lines`."""
    return re.sub(r"([-+])(\d{1,9})", lambda match: f"{match.group(1)}{int(match.group(2)) + lines}", header)


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
    """Return the sorted lines of a guard tree, without values that differ between equal ranks."""
    # torch aligns the comments, so that an id of another length moves them.
    same = RANK_VALUE.sub(rb"\1rank", GUARD_ID.sub(rb"\1id", normalised(LATENCY.sub(b"", text))))
    lines = SPACES.sub(b" ", same).split(b"\n")
    return b"\n".join(sorted(line.strip() for line in lines))
