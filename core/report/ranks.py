"""Fingerprints of the ranks of a run, one for each log, made of marks in the order of the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.report.places import Payload, Place

MarkKind = Literal["start", "recompile", "break", "graph", "cache", "schedule", "tensors", "guards", "execution", "end"]
# Stages that a compilation logs only if the caches had no code for it.
LATER_KINDS = frozenset({"schedule", "tensors"})
EARLY_GRAPHS = frozenset({"dynamo_output_graph", "optimize_ddp_split_graph", "optimize_ddp_split_child"})


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective of a graph: op, its tensor as torch prints it (`f32[4]`), its further arguments, and its group.

    Groups are numbered by first use in the log, since their names differ between ranks.
    """

    op: str
    tensor: str
    arguments: str
    group: int


@dataclass(frozen=True, slots=True)
class RankMark:
    """A fact of a compilation that should be the same on all ranks.

    `name` is the stage of a graph, the cache, or the direction; `text` is short: reason, outcome, error. `digest` is
    that of the normalised text: without addresses, ids, folders and device indices. `where` is the text in the log.
    """

    kind: MarkKind
    compile_id: str
    name: str
    digest: str
    text: str = ""
    where: Payload | None = None
    collectives: tuple[Collective, ...] = ()

    @property
    def is_later(self) -> bool:
        """True for a stage that is only logged if the caches had no code for the compilation."""
        return self.kind in LATER_KINDS or (self.kind == "graph" and self.name not in EARLY_GRAPHS)


@dataclass(frozen=True, slots=True)
class RankCompilation:
    """A compilation on a rank: its function, its stack's innermost line, and its seconds by phase.

    `estimated_us` is the sum of Inductor's run time estimates, None if they were not logged. `tensors` counts the
    outputs in the tensor metadata.
    """

    id: str
    place: Place | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    estimated_us: float | None = None
    tensors: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """All that is compared of one rank's log.

    `digest` is that of all marks, their places in the log left out. `parallel` names the wrappers that call collectives
    outside the graphs (DDP, FSDP), `devices` are device types. `last_time` is torch's time of the last record, and
    `is_cut` True if it is not whole. `dropped` counts the marks beyond the bound; `problem` is why a log was not read.
    """

    rank: int
    log_bytes: int
    marks: tuple[RankMark, ...] = ()
    compilations: tuple[RankCompilation, ...] = ()
    digest: str = ""
    last_time: str = ""
    is_cut: bool = False
    parallel: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    dropped: int = 0
    problem: str = ""

    def compilation(self, compile_id: str) -> RankCompilation | None:
        """Return a compilation by its id; None if the rank has none."""
        return next((one for one in self.compilations if one.id == compile_id), None)
