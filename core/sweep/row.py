"""A row of a sweep's table: one cell, and what the report of its run says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.analysis import Interval
from core.base.words import count
from core.report import How
from core.runs.status import State, Status

RowState = Literal["waiting"] | State
Claim = Literal["faster", "slower", "no difference seen", "too few samples to say", "not measurable", ""]

# What a run ended as by itself; one that was cut short is made anew.
SETTLED = ("done", "failed", "timed out", "out of memory", "crashed")
# What others send to a worker. The keeper, which sends the same, says why it did.
KILLED = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


@dataclass(frozen=True, slots=True)
class SweepCall:
    """One call of a cell's run: seconds it took eagerly and compiled, the first time that it was made, how many
    compilations it met, None where that was not recorded, how it was made, and what torch said where it raised.
    """

    inputs: str
    eager_s: float | None
    compiled_s: float | None
    compilations: int | None = None
    ended: str = ""
    how: How = ""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One cell, and what its report says; None and empty for what was not recorded.

    `at` are the labels of the axes. `state` is `waiting` before there is a run. `error` is why it ended otherwise than
    done, in torch's words where it has some. `ratio` is eager / compiled in the steady state, and `claim` what may be
    said of it; `disturbed` is why the samples are not those of a quiet machine.

    `phases_s` are compile times by class of phase. `kernels` and `kernel_calls` are those of the newest compilation of
    each frame, which is what a call runs, `kernels_made` those of all compilations. `stages` are those of which the log
    holds a graph, `passes` those that changed one, and `chosen` what autotuning took, by what it was taken for.
    `parts_s` says what a compiled call consists of, `guards_us` how long the guards of the newest compilations take,
    `directions_s` what forward and backward take. `made` are digests of the kernels and of the lines that call them,
    `generated` counts those that are no library's, `skips` how many graphs did not become CUDA graphs, and `skipped`
    why, where torch says so. `numerics_words` is what was found against float64. `killed`
    says that its worker was ended from outside, and `took_s` how long the run took as a whole, or has taken so far.
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

    @property
    def first_eager_s(self) -> float | None:
        """Seconds of the first eager call."""
        return self.calls[0].eager_s if self.calls else None

    @property
    def first_compiled_s(self) -> float | None:
        """Seconds of the first compiled call, with its compilation."""
        return self.calls[0].compiled_s if self.calls else None

    @property
    def clear(self) -> bool:
        """Whether there is a difference in speed at all."""
        return self.claim in ("faster", "slower")

    @property
    def outcome(self) -> str:
        """How the results compare with eager's: `same`, or `same in 1 of 3 calls` where torch refused the others."""
        compared = sum(call.how != "raised" for call in self.calls)
        partial = self.results and compared < len(self.calls)
        return f"{self.results} in {compared} of {count(len(self.calls), 'call')}" if partial else self.results

    @property
    def settled(self) -> bool:
        """Whether its run has ended by itself, so that it is not made again."""
        return self.state in SETTLED and not self.killed


def was_killed(status: Status) -> bool:
    """Whether the worker of a run was ended from outside."""
    return status.state == "crashed" and status.signal in KILLED
