"""Kernel tools: requests about one kernel of a run, and where their results are stored."""

from __future__ import annotations

from dataclasses import dataclass

from core.runs.store import Run
from core.runs.tools import Assembly, Configs, Interpret, Ladder, Passes, Reproduce, Request, forget, result, tool_run
from core.views.kernels.results import KernelResult

LADDER, PASSES, CONFIGS, ASSEMBLY = "ladder", "passes", "configs", "assembly"
COMPILING = "Compiling…"


@dataclass(frozen=True, slots=True)
class KernelTool:
    """A request to a tool about one kernel of a run; `waiting` is the caption while the tool works."""

    run: Run
    request: Request
    waiting: str = COMPILING

    @classmethod
    def compiled(cls, run: Run, kernel: str, panel: str, target: str = "", config: int = 0) -> KernelTool:
        """Return the tool that compiles a kernel for a panel; an empty target is the kernel's own."""
        requests: dict[str, tuple[Request, str]] = {
            LADDER: (Ladder(kernel, target, config), COMPILING),
            PASSES: (Passes(kernel, target, config), "Compiling with MLIR's dumps…"),
            CONFIGS: (Configs(kernel, target), "Compiling every config…"),
            ASSEMBLY: (Assembly(kernel), "Compiling to assembly…"),
        }
        return cls(run, *requests[panel])

    @classmethod
    def rungs(cls, run: Run, kernel: str, language: str, target: str = "", config: int = 0) -> KernelTool:
        """Return the tool for the rungs of a kernel; target and config are those of a Triton kernel."""
        return cls(run, Ladder(kernel, target, config) if language == "triton" else Assembly(kernel))

    @classmethod
    def reproduced(cls, run: Run, kernel: str) -> KernelTool:
        """Return the tool that runs a kernel's reproduction script."""
        return cls(run, Reproduce(kernel), "Running it…")

    @classmethod
    def interpreted(cls, run: Run, kernel: str, code: str, program: tuple[int, int, int]) -> KernelTool:
        """Return the tool that interprets one program of a kernel; without a kernel, of the code or a sample."""
        return cls(run, Interpret(kernel, code, program), "Interpreting in a fresh Python…")

    @property
    def directory(self) -> Run:
        """Directory of the request, whether it exists or not."""
        return tool_run(self.run, self.request)

    def result(self) -> KernelResult | None:
        """Return the stored result; None if the tool was not started or is still at work."""
        answer = result(self.run, self.request)
        return KernelResult(answer) if answer is not None else None

    def forget(self) -> None:
        """Remove the stored result; raises StoreError."""
        forget(self.run, self.request)
