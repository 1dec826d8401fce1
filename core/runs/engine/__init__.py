"""Where runs are executed: an engine takes a run directory; here, a fork server for each build of torch does."""

from core.runs.engine.lanes import Lane, assigned, device_of
from core.runs.engine.local import Assignment, Engine, LocalEngine
from core.runs.engine.turns import Turns

__all__ = ["Assignment", "Engine", "Lane", "LocalEngine", "Turns", "assigned", "device_of"]
