"""The report of a log that is still written: each record is read once, however often the report is shown."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock

from core.base.errors import TraceError
from core.report import Report, Setting
from core.trace import GrowingReader
from core.trace.parsers.build import draft_report, read_record
from core.trace.parsers.draft import ReportDraft

LOOK_S = 0.2


class GrowingReport:
    """The report of a log so far, for all threads that show it. While one of them reads, and for a short time after,
    the others get the last report.
    """

    def __init__(self, path: Path, rests_s: float = LOOK_S) -> None:
        self.path = path
        self._rests_s = rests_s
        self._lock = Lock()
        self._looked_s = float("-inf")
        self._begin()

    def _begin(self) -> None:
        self._draft: ReportDraft | None = None
        self._report = Report(Setting())

    def look(self) -> Report:
        """Return the report of the log as it is now, or when it was last read; empty if there is no log yet."""
        if self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._report

    def _look(self) -> None:
        if time.monotonic() - self._looked_s < self._rests_s:
            return
        try:
            self._read()
        except TraceError:
            self._begin()
        self._looked_s = time.monotonic()

    def _read(self) -> None:
        if self._draft is None:
            self._draft = ReportDraft(GrowingReader(self.path))
        reader = self._draft.reader
        assert isinstance(reader, GrowingReader)
        before = reader.size
        for record in reader.new_records():
            read_record(self._draft, record)
        if reader.size != before:
            self._report = draft_report(self._draft)
