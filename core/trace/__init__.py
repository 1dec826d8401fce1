"""A TORCH_TRACE log, read lazily."""

from core.trace.reader import TraceReader
from core.trace.record import TraceRecord

__all__ = ["TraceReader", "TraceRecord"]
