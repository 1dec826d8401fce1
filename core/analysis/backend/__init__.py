"""Backend calls of a run: graphs passed to the backend, calls that executed its result, and its annotations."""

from core.analysis.backend.annotations import NODE_COLUMN, NodeValues, node_values
from core.analysis.backend.sentence import backend_lines, backend_sentence, strip_words
from core.analysis.backend.strip import (
    BackendProblem,
    BackendRow,
    StripCell,
    backend_problems,
    backend_rows,
    backends_called,
    requested_backend,
)

__all__ = [
    "NODE_COLUMN",
    "BackendProblem",
    "BackendRow",
    "NodeValues",
    "StripCell",
    "backend_lines",
    "backend_problems",
    "backend_rows",
    "backend_sentence",
    "backends_called",
    "node_values",
    "requested_backend",
    "strip_words",
]
