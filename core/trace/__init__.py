"""A TORCH_TRACE log, read lazily."""

from core.trace.reader import NO_RECORD, TraceReader, has_record
from core.trace.record import TraceRecord

__all__ = ["NO_RECORD", "TraceReader", "TraceRecord", "has_record"]
