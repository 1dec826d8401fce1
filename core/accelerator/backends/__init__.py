"""Built-in backends as editable examples: each file defines a function `backend`.

Only the worker runs the backends. A backend reports its work through torch's own trace, as any backend can:
the artifact `backend_table` (JSON: `title`, `columns`, `rows`) and the artifact `backend_text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ShippedBackend:
    """Name and description of a built-in backend."""

    name: str
    words: str

    @property
    def path(self) -> Path:
        """Return the path of the backend's file."""
        return FOLDER / f"{self.name}.py"


SHIPPED_BACKENDS = {
    backend.name: backend
    for backend in (
        ShippedBackend("template", "minimal backend: takes a graph, returns a callable"),
        ShippedBackend("inspect", "prints the graph and runs it unchanged"),
        ShippedBackend("registry", "own kernels from a table, and torch for all other ops"),
        ShippedBackend("aot", "AOTAutograd with forward and backward compilers, and the graph at four levels"),
        ShippedBackend("pattern", "Inductor with a custom pattern: its matches and near misses"),
    )
}
