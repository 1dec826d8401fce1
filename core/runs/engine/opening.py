"""The one constructor of engines: commands, pages and the Runner name no engine."""

from __future__ import annotations

from core.runs.engine.local import LocalEngine
from core.runs.engine.protocol import Engine
from core.runs.store import Store


def open_engine(store: Store) -> Engine:
    """Return an engine that executes the runs of a store and uses its cache; whoever opens it closes it."""
    return LocalEngine(store.cache_dir)
