"""Fetch of a run's archived files: its progress, the figures that the store has meanwhile, and failures."""

from __future__ import annotations

import threading
import time

from core.base import words as fmt
from core.base.errors import CompileboardError
from core.runs.index import RunIndex
from core.runs.remote import bring_back, is_away, remote_archive
from core.runs.retention import trim
from core.runs.store import Run
from core.runs.stored import open_summary
from core.views.speedup import seen_words

# Seconds after which a fetch that failed is tried again.
AGAIN_S = 30.0


class Fetch:
    """A thread that fetches the files of a run; `problem` is the reason if that failed."""

    def __init__(self, index: RunIndex, run: Run) -> None:
        self.problem = ""
        self.done_bytes = self.total_bytes = 0
        self._index, self._run = index, run
        self._ended_s: float | None = None
        threading.Thread(target=self._fetch, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """True once a fetch has ended, unless it failed a moment ago."""
        return self._ended_s is not None and (not self.problem or time.monotonic() - self._ended_s > AGAIN_S)

    @property
    def part(self) -> float:
        """Fetched share of the bytes, from 0 to 1."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def words(self) -> str:
        """The progress as text."""
        if not self.total_bytes:
            return "Fetching the files of this run from the archive…"
        done, total = fmt.bytes_(self.done_bytes), fmt.bytes_(self.total_bytes)
        return f"Fetching the files of this run from the archive: {done} of {total}"

    @property
    def stored_words(self) -> str:
        """Figures of the run from its stored summary; empty without one."""
        summary = open_summary(self._run, stored_alone=True)
        if summary is None:
            return ""
        parts = (
            seen_words(summary.speed) if summary.speed else "",
            fmt.count(summary.graphs, "graph"),
            fmt.count(summary.breaks, "graph break"),
            fmt.count(summary.recompiles, "recompile"),
            fmt.count(summary.kernels, "kernel") if summary.kernels is not None else "",
            f"torch {summary.torch}" if summary.torch else "",
            summary.device,
        )
        return " · ".join(filter(None, parts))

    @staticmethod
    def is_needed(run: Run) -> bool:
        """Return True if files of a run are in the archive alone."""
        return is_away(run)

    def _fetch(self) -> None:
        try:
            bring_back(self._run, self._progress)
            self._index.update([self._run.path.name])
            if (archive := remote_archive(self._index.store)) is not None:
                trim(self._index, archive)
        except CompileboardError as error:
            self.problem = str(error)
        self._ended_s = time.monotonic()

    def _progress(self, done_bytes: int, total_bytes: int) -> None:
        self.done_bytes, self.total_bytes = done_bytes, total_bytes
