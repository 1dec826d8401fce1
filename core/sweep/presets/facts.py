"""What presets find, a type for each kind of fact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.analysis import Interval
from core.report import How

Stop = Literal["", "Dynamo", "AOTAutograd", "code generation"]


@dataclass(frozen=True, slots=True)
class BackendFact:
    """What a backend does, behind which stage its log stops, and in torch's words why it cannot run here."""

    name: str
    does: str
    stops: Stop
    runs: bool
    reason: str = ""
    tags: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class ModeFact:
    """What a mode sets, and what that changed against the default mode; `same` if kernels, passes and choices are the
    same, and None where one of the two was not recorded. `wrapper` says whether the code around the kernels is, too,
    and `generated` how many kernels are generated with the mode, and with the default one.
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
    """What some sizes, one after the other, cost with one way to treat them: compilations, seconds, kernels."""

    name: str
    sizes: int
    compilations: int
    compile_s: float | None
    kernels: int | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """From where on compiled is faster than eager: between `slow`, the largest size where it is not seen to be, and
    `fast`, from which on it always is. `slow` is None where it is faster at all sizes, `fast` where it is at none.
    """

    field: str
    slow: float | None
    fast: float | None
    back: bool = False


@dataclass(frozen=True, slots=True)
class CallParts:
    """What one compiled call in the steady state consists of, in seconds, as far as that was measured apart."""

    label: str
    compiled_s: float
    parts_s: dict[str, float]


@dataclass(frozen=True, slots=True)
class BreakEven:
    """From which call on compiling has paid, between two bounds; None where it is not seen to."""

    label: str
    calls: tuple[int, int] | None
    cost_s: float | None


@dataclass(frozen=True, slots=True)
class StanceFact:
    """What became of each call in one stance: compilations up to it, and how it was made."""

    name: str
    compilations: tuple[int, ...]
    how: tuple[How, ...]


@dataclass(frozen=True, slots=True)
class SpeedFact:
    """How one cell's compiled calls compare with its eager ones."""

    label: str
    eager_s: float | None
    compiled_s: float | None
    ratio: Interval | None
    clear: bool


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """The peaks of one cell's eager and compiled call, in bytes."""

    label: str
    eager_bytes: int
    compiled_bytes: int


@dataclass(frozen=True, slots=True)
class ResultFact:
    """How one cell's results compare with eager's."""

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
