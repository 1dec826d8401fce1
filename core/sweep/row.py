"""A row of a sweep's table: a cell, and the results in its run's report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.analysis import Interval
from core.base.words import count
from core.report import How
from core.runs.status import State, Status

RowState = Literal["waiting"] | State
Claim = Literal["faster", "slower", "no difference seen", "too few samples to say", "not measurable", ""]

# States of a run that ended by itself; an interrupted run is repeated.
SETTLED = ("done", "failed", "timed out", "out of memory", "crashed")
# Signals that end a worker from outside. The supervisor also sends them, but then records its own reason.
KILLED = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


@dataclass(frozen=True, slots=True)
class SweepCall:
    """A call of a cell's run.

    `eager_s` and `compiled_s` are the seconds of its first execution. `compilations` is None if not recorded. `how` is
    the kind of execution, and `ended` torch's message if the call raised.
    """

    inputs: str
    eager_s: float | None
    compiled_s: float | None
    compilations: int | None = None
    ended: str = ""
    how: How = ""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A cell and the results in its report; None and empty for values that were not recorded.

    `at` are the labels of the axes. `state` is `waiting` before there is a run. `error` is the reason for any end
    except done, in torch's words if it has some. `ratio` is eager / compiled in the steady state, and `claim` the
    conclusion it supports; `disturbed` is the reason if the machine was not quiet.

    `phases_s` are compile times by phase class. `kernels` and `kernel_calls` are those of the newest compilation of
    each frame, which a call runs, `kernels_made` those of all compilations. `stages` are the stages with a graph in the
    log, `passes` the passes that changed a graph, and `chosen` the autotuning choices by their subject. `parts_s` are
    the parts of a compiled call, `guards_us` the microseconds of the newest compilations' guards, `directions_s` the
    seconds of forward and backward. `made` are digests of the kernels and of the lines that call them, `generated`
    counts kernels without library calls, `skips` counts graphs that did not become CUDA graphs, and `skipped` is
    torch's reason. `numerics_words` is the result of the comparison with float64. `killed` is True if its worker was
    ended from outside, and `took_s` is the run's total time, so far if it is still running. `node` is the machine of a
    cluster that executed it.
    """

    at: tuple[str, ...]
    run: str = ""
    state: RowState = "waiting"
    error: str = ""
    torch: str = ""
    device: str = ""
    threads: int | None = None
    eager_s: float | None = None
    compiled_s: float | None = None
    ratio: Interval | None = None
    claim: Claim = ""
    eager_quartiles_s: tuple[float, float] | None = None
    compiled_quartiles_s: tuple[float, float] | None = None
    samples: int = 0
    disturbed: str = ""
    calls: tuple[SweepCall, ...] = ()
    compile_s: float | None = None
    phases_s: dict[str, float] = field(default_factory=dict)
    compilations: int | None = None
    graphs: int | None = None
    breaks: int | None = None
    recompiles: int | None = None
    kernels: int | None = None
    kernel_calls: int | None = None
    kernels_made: int | None = None
    kernel_names: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)
    parts_s: dict[str, float] = field(default_factory=dict)
    guards_us: float | None = None
    results: str = ""
    results_words: str = ""
    eager_peak_bytes: int | None = None
    compiled_peak_bytes: int | None = None
    directions_s: dict[str, float] = field(default_factory=dict)
    made: tuple[str, str] = ("", "")
    generated: int | None = None
    skips: int | None = None
    skipped: str = ""
    numerics_words: str = ""
    notes: tuple[str, ...] = ()
    killed: bool = False
    took_s: float | None = None
    node: str = ""

    @property
    def first_eager_s(self) -> float | None:
        """Return the seconds of the first eager call."""
        return self.calls[0].eager_s if self.calls else None

    @property
    def first_compiled_s(self) -> float | None:
        """Return the seconds of the first compiled call, compilation included."""
        return self.calls[0].compiled_s if self.calls else None

    @property
    def clear(self) -> bool:
        """Return True if a difference in speed is claimed."""
        return self.claim in ("faster", "slower")

    @property
    def outcome(self) -> str:
        """Return the comparison with eager: `same`, or `same in 1 of 3 calls` if torch refused the others."""
        compared = sum(call.how != "raised" for call in self.calls)
        partial = self.results and compared < len(self.calls)
        return f"{self.results} in {compared} of {count(len(self.calls), 'call')}" if partial else self.results

    @property
    def settled(self) -> bool:
        """Return True if its run ended by itself, so that it is not repeated."""
        return self.state in SETTLED and not self.killed


def was_killed(status: Status) -> bool:
    """Return True if a run's worker was ended from outside."""
    return status.state == "crashed" and status.signal in KILLED
