"""Interface between the Runner and its engine: only a run directory with the job, and a handle, are passed.

`docs/adding-an-engine.md` specifies what an engine must do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.base.machine import Environment
from core.runs.status import Liveness
from core.runs.store import Run


@dataclass(frozen=True, slots=True)
class Assignment:
    """Work for an engine: a run directory with a job or a tool's task, and its resources.

    They are the target of its code (empty for this machine), the device, whether it is measured there, and the visitor
    who submitted it. `alike` is the sweep whose measured cells need equal nodes; `node` is the one that was chosen.
    """

    run: Run
    target: str = ""
    device: str = "cpu"
    measures: bool = False
    by: str = ""
    alike: str = ""
    node: str = ""


class Engine(Liveness, Protocol):
    """An executor of assignments, which knows the live runs and can end them. Safe to use from threads."""

    def nodes(self, device: str, alike: str = "", /) -> Sequence[str]:
        """Return the nodes that can execute runs on a device now, the best first; of equal kind for one `alike`."""

    def refusal(self, device: str, /) -> str:
        """Return why no node will execute a run on a device; empty if one may."""

    def on_change(self, changed: Callable[[], None], /) -> None:
        """Call `changed` whenever other nodes can execute runs."""

    def prepare(self, assignment: Assignment) -> None:
        """Wait until an assignment can start; raises WorkerError if it can't."""

    def lacks(self, assignment: Assignment) -> str:
        """Return what `prepare` must start first, such as `torch for CUDA`; empty if nothing."""

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device without waiting.

        False if another server is measuring on it. Raises StoreError. A measured run has its device to itself, all
        others share it. The lock ends with `end_turn` or this server.
        """

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Start an assignment; raises WorkerError. `ended` is called once, from any thread."""

    def cancel(self, run: Run) -> None:
        """Request the end of a started run, also of another server's.

        Raises WorkerError if that is impossible.
        """

    def warm_up(self) -> None:
        """Prepare what the first run needs, in the background."""

    def environment(self) -> Environment:
        """Return the versions, devices and backends of torch."""

    def close(self) -> None:
        """End everything that this engine started."""
