"""Where runs are executed: an engine takes a run directory; here, a fork server for each build of torch does."""

from core.engine.local import Assignment, Engine, LocalEngine

__all__ = ["Assignment", "Engine", "LocalEngine"]
