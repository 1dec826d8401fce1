"""Text of a sweep: its state in words, and its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.base.words import bytes_, count, duration_s, number
from core.sweep.presets.rows import reason, seconds, speed_words
from core.sweep.row import SweepRow
from core.sweep.standing import SweepStanding

LONGEST_CELL = 60
GAP = "  "


def progress_words(progress: SweepStanding) -> str:
    """Return `going, 3 of 10 cells done, about 2 min 5 s left`."""
    parts = [progress.state, f"{number(progress.done)} of {count(progress.total, 'cell')} done"]
    if progress.failed:
        parts.append(f"{number(progress.failed)} failed")
    return ", ".join([*parts, *filter(None, [left_words(progress), progress.reason])])


def left_words(progress: SweepStanding) -> str:
    """Return the remaining time in words; empty if it is unknown."""
    if not progress.left_s:
        return ""
    if progress.untried:
        return f"at least {duration_s(progress.left_s)} left: no cell with {progress.untried} has ended yet"
    return f"about {duration_s(progress.left_s)} left, an estimate"


def row_words(row: SweepRow) -> str:
    """Return the outcome of a cell, in words."""
    if row.state not in ("done", "waiting"):
        return f"{row.state}: {reason(row)}" if row.error else row.state
    disturbed = f"; {row.disturbed}" if row.disturbed else ""
    return (speed_words(row) or row.state) + disturbed


def as_text(fields: Sequence[str], rows: Sequence[SweepRow], more: Mapping[str, Sequence[str]]) -> str:
    """Return the table with a preset's columns; empty columns are left out."""
    columns: dict[str, list[str]] = {field: [row.at[place] for row in rows] for place, field in enumerate(fields)}
    columns |= {title: [words(row) for row in rows] for title, words in COLUMNS.items()}
    columns |= {title: list(cells) for title, cells in more.items()}
    columns |= {"": [row.disturbed if row.state == "done" else row_words(row) for row in rows]}
    shown = {title: list(map(_short, cells)) for title, cells in columns.items() if any(cells)}
    widths = {title: max(len(title), *map(len, cells)) for title, cells in shown.items()}
    lines = [list(shown), *(list(line) for line in zip(*shown.values(), strict=True))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths.values(), strict=True)).rstrip()
        for line in lines
    )


def _short(cell: str) -> str:
    """Return a text in one printable line, cut if it is long."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in cell).split())
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def _count(name: str) -> Callable[[SweepRow], str]:
    return lambda row: "" if (value := getattr(row, name)) is None else number(value)


COLUMNS: dict[str, Callable[[SweepRow], str]] = {
    "eager": lambda row: seconds(row.eager_s),
    "compiled": lambda row: seconds(row.compiled_s),
    "compiled against eager": speed_words,
    "first compiled call": lambda row: seconds(row.first_compiled_s),
    "compile time": lambda row: seconds(row.compile_s),
    "compilations": _count("compilations"),
    "graphs": _count("graphs"),
    "breaks": _count("breaks"),
    "kernels": _count("kernels"),
    "results": lambda row: row.outcome,
    "peak eager": lambda row: "" if row.eager_peak_bytes is None else bytes_(row.eager_peak_bytes),
    "peak compiled": lambda row: "" if row.compiled_peak_bytes is None else bytes_(row.compiled_peak_bytes),
}
