"""A log that is followed while another process writes it: how far it is, in a sentence."""

from __future__ import annotations

from core.base import words as fmt
from core.runs.progress import Progress

WAITING = "No record was written yet."


def followed_words(progress: Progress, ranks: int) -> str:
    """Return what was recorded so far and what torch does now."""
    if not progress.log_bytes:
        return f"{WAITING} Start the script with `TORCH_TRACE` set to the followed directory."
    counts = [
        *([fmt.count(ranks, "rank")] if ranks > 1 else []),
        fmt.count(progress.compilations, "compilation"),
        fmt.count(progress.graphs, "graph"),
        fmt.bytes_(progress.log_bytes),
    ]
    now = f" Now {progress.words}." if progress.words else ""
    return f"So far: {', '.join(counts)}.{now}"
