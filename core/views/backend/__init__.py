"""Backend calls of a run: the contract with torch.compile, code, executions, and backend output."""

from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from core.views.backend.run import BackendView

__all__ = ["BackendCompilationView", "BackendView", "ExecutionBar"]
