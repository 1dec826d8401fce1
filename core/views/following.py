"""A log that is followed while another process writes it: how far it is, in a sentence."""

from __future__ import annotations

from core.base import words as fmt
from core.base.files import regular
from core.report import Report
from core.runs.progress import Progress, progress
from core.runs.store import Run

# After so long without a byte, torch does something that it does not log.
QUIET_S = 5.0
WAITING = "No record was written yet."


def followed_words(run: Run, report: Report | None, now_s: float) -> str:
    """Return what was recorded so far, and what torch does now or when it last logged something."""
    so_far, ranks = progress(report), len(run.ranks())
    if not so_far.log_bytes:
        return f"{WAITING} Start the script with TORCH_TRACE set to the followed directory."
    counts = [
        *([fmt.count(ranks, "rank")] if ranks > 1 else []),
        fmt.count(so_far.compilations, "compilation"),
        fmt.count(so_far.graphs, "graph"),
        fmt.bytes_(so_far.log_bytes),
    ]
    return " ".join(filter(None, (f"So far: {', '.join(counts)}.", _now_words(run, so_far, now_s))))


def _now_words(run: Run, so_far: Progress, now_s: float) -> str:
    log = run.log_path()
    status = regular(log) if log is not None else None
    if status is None:
        return ""
    if now_s - status.st_mtime > QUIET_S:
        return f"Last written {fmt.duration_s(float(round(now_s - status.st_mtime)))} ago."
    return f"Now {so_far.words}." if so_far.words else ""
