"""Status of a run: its state, and the handle of its owner."""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from msgspec import Meta

Ended = Literal["done", "failed", "cancelled", "timed out", "out of memory", "crashed", "interrupted", "damaged"]
State = Literal["queued", "running", Ended]
# Reason of a run whose owner has ended, on the machine that executed it.
OWNER_ENDED = "the server that ran it ended"
LIVE: tuple[State, ...] = ("queued", "running")
# Up to the year 9999, the last that Python's datetime accepts.
Seconds = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
Handle = Annotated[str, Meta(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class Status:
    """State and times of a run. Times are in seconds since the epoch.

    `reason` says why the run ended. `handle` is the owner while the run is live: the process that queued it, then its
    supervisor; only the engine reads it. `by` is the visitor who submitted the run, empty for the server's owner.
    `recorded` is the device, torch and date of a gallery recording. `origin` says where a log came from, why following
    it ended, and which other files were not read. `in_process` is True for a log that a user's process writes itself:
    its owner is that process, which must never be ended. `node` is the name of the machine of a cluster that executes
    the run.
    """

    state: State
    created_s: Seconds
    kind: Literal["run", "log"] = "run"
    started_s: Seconds | None = None
    ended_s: Seconds | None = None
    reason: str = ""
    exit_code: int | None = None
    signal: str | None = None
    handle: Handle = ""
    peak_memory_bytes: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    fingerprint: str = ""
    title: str = ""
    by: str = ""
    recorded: str = ""
    origin: Annotated[str, Meta(max_length=20_000)] = ""
    in_process: bool = False
    node: Annotated[str, Meta(max_length=2_000)] = ""

    @property
    def live(self) -> bool:
        """Return True if the run is still queued or running."""
        return self.state in LIVE

    @property
    def took_s(self) -> float | None:
        """Return the seconds from start to end, at least 0; None before the end."""
        if self.started_s is None or self.ended_s is None:
            return None
        return max(0.0, self.ended_s - self.started_s)


class Liveness(Protocol):
    """Check for live owners of runs and sweeps: an engine, or the process table of this machine.

    A handle is text that begins with the engine's name and a colon; only that engine reads the rest.
    """

    def local_handle(self) -> str:
        """Return the handle of this server, which owns the runs it has queued and the sweeps it executes."""

    def is_alive(self, handle: str) -> bool:
        """Return True if the owner, or the process that ends its orphans, is alive or may be alive.

        A run without a live owner can be deleted and started again.
        """
