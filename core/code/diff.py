"""Unified diff of two compilation stages of a kernel, bounded in time and length."""

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


def diff_texts(left: str, right: str, left_name: str, right_name: str, limit: int = MAX_DIFF_LINES) -> TextDiff:
    """Return the diff of two texts.

    If more than `MAX_DIFFED_LINES` lie between the first and the last change, all of them count as changed.
    """
    lines = list(_unified_diff(left.splitlines(), right.splitlines(), left_name, right_name))
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    return TextDiff("\n".join(lines[:limit]), added, removed, max(0, len(lines) - limit))


def without_locations(module: str) -> str:
    """Return MLIR text without its debug locations, which change with every line."""
    return LOCATION.sub("", LOCATION_ENTRY.sub("", module)).strip()


def _unified_diff(left: Sequence[str], right: Sequence[str], left_name: str, right_name: str) -> Iterator[str]:
    """Return `difflib.unified_diff` of the lines from the first to the last difference; its time is quadratic."""
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
    """Return a hunk's header, with line numbers counted from the first compared line."""
    return re.sub(r"([-+])(\d{1,9})", lambda match: f"{match.group(1)}{int(match.group(2)) + lines}", header)
