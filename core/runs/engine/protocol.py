"""The seam behind the Runner: only a run directory, which holds the job, and a handle cross it.

`docs/adding-an-engine.md` says what an engine promises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.base.machine import Environment
from core.runs.status import Liveness
from core.runs.store import Run


@dataclass(frozen=True, slots=True)
class Assignment:
    """Work for an engine: a run directory, which holds a job or a tool's task; the target of its code, empty for this
    machine; the device that it takes, whether it is measured there, and the visitor who submitted it.
    """

    run: Run
    target: str = ""
    device: str = "cpu"
    measures: bool = False
    by: str = ""


class Engine(Liveness, Protocol):
    """Something that executes assignments, knows which runs are alive, and can end them. Safe to use from threads."""

    def prepare(self, assignment: Assignment) -> None:
        """Wait until an assignment can be started; raises WorkerError if it cannot be."""

    def lacks(self, assignment: Assignment) -> str:
        """Return what `prepare` would have to start first, such as `torch for CUDA`; empty once it is there."""

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device, unless another server measures there; do not wait. Raises StoreError.

        A measured run has its device to itself, all others share it. The lock ends with `end_turn` or this server.
        """

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Start an assignment; raises WorkerError. `ended` is called once, from any thread."""

    def cancel(self, run: Run) -> None:
        """Ask a started run to end, also one that another server has started; raises WorkerError if it cannot."""

    def warm_up(self) -> None:
        """Prepare what the first run will need, in the background."""

    def environment(self) -> Environment:
        """Return the versions, devices and backends of torch."""

    def close(self) -> None:
        """End everything that was started."""
