"""Lazy reader of a TORCH_TRACE log."""

from core.trace.index import IndexRow, TraceIndex, index_of
from core.trace.reader import NO_RECORD, AppendedReader, GrowingReader, TraceReader, TraceRecord, has_record, text_at

__all__ = [
    "NO_RECORD",
    "AppendedReader",
    "GrowingReader",
    "IndexRow",
    "TraceIndex",
    "TraceReader",
    "TraceRecord",
    "has_record",
    "index_of",
    "text_at",
]
