"""The table of phases, and what it adds up to."""

from __future__ import annotations

from core import words as fmt
from core.analysis import PhaseTotal
from pages.look.text import LONGEST_LINE, one_line, plain

ALL = "all compilations"


def row(item: PhaseTotal) -> dict[str, object]:
    """One line of the table; seconds that threads spent at once are no seconds of the clock, and stand apart."""
    return {
        "phase": one_line(item.name, LONGEST_LINE),
        "times": item.count,
        "total": item.total_s,
        "by itself": item.self_s,
        "in threads": f"{fmt.duration_s(item.threads_s)} in {fmt.count(item.threads, 'thread')}"
        if item.threads > 1
        else "",
    }


def time_words(wanted: str, seconds: dict[str, float]) -> str:
    """What the column of own times adds up to."""
    if wanted == ALL:
        return (
            f"“By itself” adds up to {fmt.duration_s(sum(seconds.values()))}, all compile time, forward and backward."
        )
    return f"“By itself” adds up to {fmt.duration_s(seconds.get(wanted, 0.0))}, the compile time of [{plain(wanted)}]."
