"""Unified diff of two forms of a kernel, bounded in time and length."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 3
MAX_DIFF_LINES = 4_000
MAX_DIFFED_LINES = 12_000
LOCATION = re.compile(r" ?loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)")
LOCATION_ENTRY = re.compile(r"^#loc\d* = .*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A unified diff, with the numbers of added and removed lines; `left_out` lines are not shown."""

    text: str
    added: int
    removed: int
    left_out: int


def diff_texts(one: str, other: str, one_name: str, other_name: str, limit: int = MAX_DIFF_LINES) -> TextDiff:
    """Return the diff of two texts.

    If more than `MAX_DIFFED_LINES` lie between the first and the last change, all of them count as changed.
    """
    lines = list(_unified(one.splitlines(), other.splitlines(), one_name, other_name))
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    return TextDiff("\n".join(lines[:limit]), added, removed, max(0, len(lines) - limit))


def without_locations(module: str) -> str:
    """Return MLIR text without its debug locations, which change with every line."""
    return LOCATION.sub("", LOCATION_ENTRY.sub("", module)).strip()


def _unified(one: Sequence[str], other: Sequence[str], one_name: str, other_name: str) -> Iterator[str]:
    """Return `difflib.unified_diff` of the lines from the first to the last difference; its time is quadratic."""
    start = _common(one, other)
    end = _common(one[start:][::-1], other[start:][::-1])
    first = max(0, start - CONTEXT)
    keep = max(0, end - CONTEXT)
    left, right = one[first : len(one) - keep], other[first : len(other) - keep]
    if not start < max(len(one), len(other)) - end:
        return
    if max(len(left), len(right)) > MAX_DIFFED_LINES:
        yield from (f"--- {one_name}", f"+++ {other_name}", f"@@ -{first + 1},{len(left)} +{first + 1},{len(right)} @@")
        yield from (f"-{line}" for line in left)
        yield from (f"+{line}" for line in right)
        return
    for line in difflib.unified_diff(left, right, one_name, other_name, n=CONTEXT, lineterm=""):
        yield _moved(line, first) if line.startswith("@@") else line


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _moved(header: str, lines: int) -> str:
    """Return a hunk's header, with line numbers counted from the first compared line."""
    return re.sub(r"([-+])(\d{1,9})", lambda match: f"{match.group(1)}{int(match.group(2)) + lines}", header)
