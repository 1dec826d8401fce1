"""PyTorch's registry of graph breaks, copied by docs/make; the copy names its torch version."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.base.decoder import decoded_as

_FILE = Path(__file__).parent / "graph_breaks.json"


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A kind of graph break: torch's name, templates of its context and explanation, and hints."""

    type: str
    context: str
    explanation: str
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegistryOrigin:
    """Origin of the registry: torch's version, the file in torch, and the licence."""

    version: str
    file: str
    licence: str


@dataclass(frozen=True, slots=True)
class GraphBreakRegistry:
    """All kinds of graph breaks by id, `GB0001` and so on."""

    origin: RegistryOrigin
    entries: dict[str, RegistryEntry]


@cache
def graph_break_registry() -> GraphBreakRegistry:
    """Return the registry that ships with Compileboard."""
    return decoded_as(_FILE.read_bytes(), GraphBreakRegistry)
