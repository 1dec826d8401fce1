"""The seam behind the Runner: all that crosses it is a run directory, which holds what is to be done, and a handle.

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
    """Something to do: a run directory, which holds a job or a tool's task, and the target that its code is for, if not
    for here; the device that it takes, whether it is measured there, and the visitor who submitted it.
    """

    run: Run
    target: str = ""
    device: str = "cpu"
    measures: bool = False
    by: str = ""


class Engine(Liveness, Protocol):
    """Something that executes assignments, knows which runs are alive, and can end them. Safe to use from threads."""

    def prepare(self, assignment: Assignment) -> None:
        """Wait until it can be started; raises WorkerError if that cannot be."""

    def lacks(self, assignment: Assignment) -> str:
        """What `prepare` would have to start first, such as `torch for CUDA`; nothing once it is there."""

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device, unless another server measures there; do not wait. Raises StoreError.

        A measured run has its device to itself, all others share it. The lock ends with `end_turn` or this server.
        """

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Start it; raises WorkerError. `ended` is called once, from any thread."""

    def cancel(self, run: Run) -> None:
        """Ask a started run to end, also one that another server has started; raises WorkerError if it cannot."""

    def warm_up(self) -> None:
        """Have ready what the first run will need, in the background."""

    def environment(self) -> Environment:
        """What torch there is and what it can do."""

    def close(self) -> None:
        """End everything that was started."""
