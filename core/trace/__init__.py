"""A TORCH_TRACE log, read lazily."""

from core.trace.growing import GrowingReader
from core.trace.reader import NO_RECORD, TraceReader, has_record, text_at
from core.trace.record import TraceRecord

__all__ = ["NO_RECORD", "GrowingReader", "TraceReader", "TraceRecord", "has_record", "text_at"]
