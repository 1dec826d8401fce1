"""Comparisons of cross-compiled code with the device's: stored as JSON lines, printed as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JOBS: dict[str, dict[str, Any]] = {
    "float32": {},
    "bfloat16": {"dtype": "bfloat16"},
    "training": {"training": True},
    "bfloat16 training": {"dtype": "bfloat16", "training": True},
}
TIMED_PADDING = "timed padding alone"


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a pair.

    It has the numbers of equal kernels and wrappers, the differences, and the choices that need timing on the device.
    `cause` names the only choice that explains the differences, otherwise it is empty.
    """

    name: str
    variant: str
    on: str
    graphs: int
    kernels: int
    same_kernels: int
    same_wrappers: int
    timed: tuple[str, ...]
    note: str
    seconds: float
    differences: tuple[str, ...]
    cause: str = ""

    @property
    def same(self) -> bool:
        """True if there is code, and all code is the same."""
        return self.graphs > 0 and (self.same_kernels, self.same_wrappers) == (self.kernels, self.graphs)

    @property
    def words(self) -> str:
        """The numbers of equal kernels and wrappers, as a cell's text."""
        if not self.graphs:
            return "no code in either"
        return f"{self.same_kernels} of {self.kernels}, {self.same_wrappers} of {self.graphs}"


def read_rows(path: Path) -> list[Row]:
    """Return the results of a file, without incomplete lines; empty if the file is missing."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            fields = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows.append(Row(**{**fields, "timed": tuple(fields["timed"]), "differences": tuple(fields["differences"])}))
    return rows


def table(rows: Iterable[Row]) -> str:
    """Return rows as Markdown: a line for each model, a column for each variant, and the total."""
    by_pair = {(row.name, row.variant): row for row in rows}
    variants = [variant for variant in JOBS if any(key[1] == variant for key in by_pair)]
    lines = [["", *variants], ["---"] * (len(variants) + 1)]
    for name in sorted({name for name, _ in by_pair}):
        cells = [by_pair.get((name, variant)) for variant in variants]
        lines.append([f"`{name}`", *(cell.words if cell else "" for cell in cells)])
    together = [[row for (_, key), row in by_pair.items() if key == variant] for variant in variants]
    lines.append(["**together**", *(f"**{_together(column)}**" for column in together)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _together(rows: list[Row]) -> str:
    kernels, graphs = sum(row.kernels for row in rows), sum(row.graphs for row in rows)
    same = sum(row.same_kernels for row in rows), sum(row.same_wrappers for row in rows)
    return f"{same[0]} of {kernels}, {same[1]} of {graphs}"


def verdict(rows: Iterable[Row]) -> str:
    """Summarize how many pairs are the same, and how many differ only by timed padding."""
    compared = [row for row in rows if row.graphs]
    causes = Counter("same" if row.same else row.cause or "otherwise" for row in compared)
    parts = [f"{causes['same']} of {len(compared)} pairs the same"]
    parts += [f"{causes[TIMED_PADDING]} differ by {TIMED_PADDING}", f"{causes['otherwise']} otherwise"]
    return ", ".join(parts)


def differences(rows: Iterable[Row]) -> str:
    """Return Markdown of the pairs that differ or failed: failure, cause, timed choices, and diffs."""
    parts = []
    for row in rows:
        if row.same and not row.note:
            continue
        paragraphs = [
            f"### {row.name}, {row.variant}: {row.words}",
            row.note,
            f"cause: {row.cause}" if row.cause else "",
            *(f"timed there: {about}" for about in row.timed),
        ]
        parts.append("\n".join([*filter(None, paragraphs), *row.differences]))
    return "\n\n".join(parts)
