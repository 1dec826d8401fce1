"""Facts of presets, one type per kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.analysis import Interval
from core.report import How

Stop = Literal["", "Dynamo", "AOTAutograd", "code generation"]


@dataclass(frozen=True, slots=True)
class BackendFact:
    """A backend: its work, its last stage in the log, and torch's reason if it cannot run here."""

    name: str
    does: str
    stops: Stop
    runs: bool
    reason: str = ""
    tags: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class ModeFact:
    """A mode: its settings, and its changes compared with the default mode.

    `same` is True if kernels, passes and choices are the same, None if one of the two was not recorded. `wrapper` is
    True if the code around the kernels is the same, too; `generated` has the numbers of generated kernels with the mode
    and with the default mode.
    """

    name: str
    sets: dict[str, bool | int | float | str | None] | None
    same: bool | None
    wrapper: bool = True
    generated: tuple[int, int] = (0, 0)
    kernels_more: tuple[str, ...] = ()
    kernels_less: tuple[str, ...] = ()
    passes_more: tuple[str, ...] = ()
    passes_less: tuple[str, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)
    skips: int = 0
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """Cost of several sizes in one shape mode: compilations, seconds, kernels."""

    name: str
    sizes: int
    compilations: int
    compile_s: float | None
    kernels: int | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """Sizes at which compiled becomes faster than eager.

    `slow` is the largest size at which it is not measurably faster, None if it is faster at all sizes; `fast` the size
    from which it always is, None if there is none.
    """

    field: str
    slow: float | None
    fast: float | None
    back: bool = False


@dataclass(frozen=True, slots=True)
class CallParts:
    """Parts of a compiled call in the steady state, in seconds, as far as they were measured separately."""

    label: str
    compiled_s: float
    parts_s: dict[str, float]


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Number of calls after which compiling has paid off, between two bounds; None if it does not measurably."""

    label: str
    calls: tuple[int, int] | None
    cost_s: float | None


@dataclass(frozen=True, slots=True)
class StanceFact:
    """Calls in a stance: compilations so far, and how each call was executed."""

    name: str
    compilations: tuple[int, ...]
    how: tuple[How, ...]


@dataclass(frozen=True, slots=True)
class SpeedFact:
    """Speed of a cell's compiled calls compared with its eager calls."""

    label: str
    eager_s: float | None
    compiled_s: float | None
    ratio: Interval | None
    clear: bool


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """Peaks of a cell's eager and compiled calls, in bytes."""

    label: str
    eager_bytes: int
    compiled_bytes: int


@dataclass(frozen=True, slots=True)
class ResultFact:
    """Results of a cell compared with eager's."""

    label: str
    outcome: str
    words: str


Fact = (
    BackendFact
    | ModeFact
    | ShapeFact
    | Crossover
    | CallParts
    | BreakEven
    | StanceFact
    | SpeedFact
    | MemoryFact
    | ResultFact
)
