"""Lazy reader of a TORCH_TRACE log."""
