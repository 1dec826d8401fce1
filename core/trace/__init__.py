"""A TORCH_TRACE log, read lazily."""

from core.trace.reader import NO_RECORD, GrowingReader, TraceReader, TraceRecord, has_record, text_at

__all__ = ["NO_RECORD", "GrowingReader", "TraceReader", "TraceRecord", "has_record", "text_at"]
