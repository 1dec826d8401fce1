"""What one eager and one compiled call took of memory."""

from __future__ import annotations

from core.report import MemoryUse
from core.report.records.memory import MemoryRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import reported


def memory(draft: ReportDraft, record: TraceRecord, said: MemoryRecord) -> None:
    """One side, with the offsets of the generated codes in the log; raises ValueError if what it says cannot be."""
    _check(said)
    codes = tuple(code.offset if (code := draft.output_codes.get(path)) else None for path in said.codes)
    draft.keep(record, reported(MemoryUse, said, codes=codes))


def _check(said: MemoryRecord) -> None:
    curve = said.curve
    if len({len(curve.at_us), len(curve.live_bytes), len(curve.places)}) > 1:
        raise ValueError("the curve's lists differ in length")
    named = [*curve.places, *(alive.place for alive in said.alive)]
    codes = [place.code for place in said.places if place.code is not None]
    if any(not -1 <= place < len(said.places) for place in named):
        raise ValueError("there is no such place")
    if any(not 0 <= code < len(said.codes) for code in codes):
        raise ValueError("there is no such code")
