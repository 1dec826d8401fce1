"""What was measured about kernels, and what the device can do at most. Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One line of a wrapper that calls a kernel, timed.

    `samples_s` are seconds of one call of the kernel warm and by itself, `method` says how; `in_place_s` seconds of all its
    `calls` in one call of the model, where they stand, a number a call of the model. `reason` says why the kernel was not
    timed by itself, empty if it was.
    """

    kernel: str
    line: int
    calls: int
    samples_s: tuple[float, ...] = ()
    calls_per_sample: int = 0
    in_place_s: tuple[float, ...] = ()
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WrapperTime:
    """The generated wrapper of one graph: seconds in it for one call of the model, which calls it `calls` times."""

    direction: str
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

    `flops_s` is FLOP/s by dtype; `measured_s` seconds since the epoch, None for a datasheet.
    """

    device: str
    source: str
    bandwidths: tuple[Bandwidth, ...]
    flops_s: dict[str, float]
    how: str
    measured_s: float | None = None
    threads: int | None = None

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
    """One thing that autotuning tried: a config or a kernel, its seconds (None where it failed), and whether it was taken."""

    name: str
    time_s: float | None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Autotuning:
    """What autotuning tried for one kernel or op, fastest first; `kind` is `configs` or `choices`."""

    name: str
    kind: str
    choices: tuple[Choice, ...] = field(default_factory=tuple)
