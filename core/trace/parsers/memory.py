"""The memory use of one eager and one compiled call."""

from __future__ import annotations

from core.report import MemoryUse
from core.report.records.memory import MemoryRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import report_value


def memory(draft: ReportDraft, record: TraceRecord, content: MemoryRecord) -> None:
    """Keep the memory use of one side, with the offsets of the generated codes in the log; raises ValueError if it is
    inconsistent.
    """
    _check(content)
    codes = tuple(code.offset if (code := draft.output_codes.get(path)) else None for path in content.codes)
    draft.keep(record, report_value(MemoryUse, content, codes=codes))


def _check(content: MemoryRecord) -> None:
    curve = content.curve
    if len({len(curve.at_us), len(curve.live_bytes), len(curve.places)}) > 1:
        raise ValueError("the curve's lists differ in length")
    named = [*curve.places, *(alive.place for alive in content.alive)]
    codes = [place.code for place in content.places if place.code is not None]
    if any(not -1 <= place < len(content.places) for place in named):
        raise ValueError("there is no such place")
    if any(not 0 <= code < len(content.codes) for code in codes):
        raise ValueError("there is no such code")
