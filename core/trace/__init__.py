"""Lazy reader of a TORCH_TRACE log."""

from core.trace.reader import NO_RECORD, GrowingReader, TraceReader, TraceRecord, has_record, text_at

__all__ = ["NO_RECORD", "GrowingReader", "TraceReader", "TraceRecord", "has_record", "text_at"]
