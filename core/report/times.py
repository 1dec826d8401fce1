"""What was measured about kernels, and what the device can do at most. Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.base.load import Load
from core.report.run import Call
from core.report.schedule import Direction


@dataclass(frozen=True, slots=True)
class Timing:
    """Steady-state samples, seconds per call, taken in turn; the first `warm_up` of each are not counted.

    `stopped` says what ended the sampling after `spent_s`: that the ratio was known well enough, or the limit; it and
    what follows are empty in the logs of older versions. `threads` are torch's, `clock` says in words what timed the
    samples; where that was the device's, those by the `wall` are of calls back to back, launches included.
    """

    eager_s: tuple[float, ...]
    compiled_s: tuple[float, ...]
    warm_up: int
    calls_per_sample: int
    stopped: str = ""
    spent_s: float | None = None
    load: Load | None = None
    threads: int | None = None
    clock: str = ""
    eager_wall_s: tuple[float, ...] = ()
    compiled_wall_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rival:
    """Another call of `torch.compile`, as a job has it in `options`, timed in turn with that of the run in one process.

    `calls` are the run's, made by another pair of models. `compiled_s` and `rival_s` are seconds per call of the run's
    own and of the rival, as `Timing` has them; `reason` says why there are none, empty if there are.
    """

    options: dict[str, Any]
    calls: tuple[Call, ...] = ()
    compiled_s: tuple[float, ...] = ()
    rival_s: tuple[float, ...] = ()
    warm_up: int = 0
    calls_per_sample: int = 1
    stopped: str = ""
    spent_s: float | None = None
    load: Load | None = None
    threads: int | None = None
    clock: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """What was measured of one line of a wrapper that calls a kernel.

    `samples_s` are seconds of one call of the kernel warm and by itself, `method` says how; `in_place_s` seconds of all
    its `calls` in one call of the model, where they stand, a number a call of the model. `reason` says why the kernel
    was not timed by itself, empty if it was.
    """

    calls: int
    samples_s: tuple[float, ...] = ()
    calls_per_sample: int = 0
    in_place_s: tuple[float, ...] = ()
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WrapperTime:
    """The generated wrapper of one graph: seconds in it for one call of the model, which calls it `calls` times."""

    direction: Direction
    samples_s: tuple[float, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second of one level of memory, nearest first; `bytes` is what fits it, None for the memory itself."""

    level: str
    bytes: int | None
    bytes_s: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """The ceilings of a device: `source` is `measured` or `datasheet`, `how` says with what, or names the datasheet.

    `flops_s` is FLOP/s by dtype; `measured_s` seconds since the epoch, None for a datasheet. `disturbed` says that the
    machine was busy whenever they were measured, so that they may be too low.
    """

    device: str
    source: Literal["measured", "datasheet"]
    bandwidths: tuple[Bandwidth, ...]
    flops_s: dict[str, float]
    how: str
    measured_s: float | None = None
    threads: int | None = None
    disturbed: bool = False

    @property
    def bandwidth_bytes_s(self) -> float:
        """Bytes a second of the memory itself."""
        return self.bandwidths[-1].bytes_s

    def bandwidth(self, moved_bytes: int) -> Bandwidth:
        """The nearest level that all of these bytes fit into."""
        fitting = (level for level in self.bandwidths if level.bytes is None or moved_bytes <= level.bytes)
        return next(fitting, self.bandwidths[-1])


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that autotuning tried: a config or a kernel, its seconds (None where it failed), and whether it was
    taken.
    """

    name: str
    time_s: float | None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Autotuning:
    """What autotuning tried, fastest first: configs of one kernel, or choices of kernels for one op."""

    name: str
    kind: Literal["configs", "choices"]
    choices: tuple[Choice, ...] = field(default_factory=tuple)
