"""The only constructor of engines, so that commands, pages and the Runner name no specific engine."""

from __future__ import annotations

from core.base.machine import Environment
from core.runs.engine.local import LocalEngine
from core.runs.engine.protocol import Engine
from core.runs.store import Store


def open_engine(store: Store) -> Engine:
    """Return an engine that executes the runs of a store and uses its cache; the caller must close it."""
    return LocalEngine(store.cache_dir)


def environment_here() -> Environment:
    """Return the torch of this machine with its options and logs, or the problem that keeps it from starting."""
    engine = open_engine(Store())
    try:
        return engine.environment()
    finally:
        engine.close()
