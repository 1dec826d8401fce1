"""Changes by Inductor's graph passes, and the division of the joint graph by AOTAutograd's partitioner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.report.fx import FxNode
from core.report.places import Place

PassStage = Literal["pre_grad", "joint", "before_post_grad", "post_grad"]
Decision = Literal["forward", "backward", "saved", "recomputed"]


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A pattern of torch's pattern matcher, the place of its replacement (None if torch does not log it), and its
    number of matches.
    """

    name: str
    source: Place | None
    count: int


@dataclass(frozen=True, slots=True)
class GraphPass:
    """A pass that changed a graph; one without a name holds the changes between two passes.

    `graph` is the id of the graph that torch logged last before it; for `before_post_grad`, of the graph that it logs
    next, since it logs forward and backward together before that. `nodes` are the added and rewritten nodes after it,
    `after` the node before each added one, `order` all names if other nodes changed places. `subgraph` is the name of
    the nested graph that it ran over, empty for the whole graph.
    """

    stage: PassStage
    graph: str
    name: str
    duration_us: float | None
    source: Place | None
    patterns: tuple[PatternMatch, ...]
    added: tuple[str, ...]
    after: tuple[str, ...]
    removed: tuple[str, ...]
    rewritten: tuple[str, ...]
    order: tuple[str, ...]
    nodes: tuple[FxNode, ...]
    subgraph: str = ""


@dataclass(frozen=True, slots=True)
class UnchangedPasses:
    """The passes of one stage that changed nothing, as (name, microseconds) in order."""

    stage: PassStage
    graph: str
    passes: tuple[tuple[str, float], ...]
    subgraph: str = ""


@dataclass(frozen=True, slots=True)
class SavedValue:
    """A value that the forward keeps for the backward; bytes are None for symbolic sizes and for values but tensors.

    `reasons` are the partitioner's, `policy` is the node's checkpoint policy (MUST_SAVE …).
    """

    name: str
    kind: str
    bytes: int | None
    reasons: tuple[str, ...] = ()
    policy: str = ""


@dataclass(frozen=True, slots=True)
class KeptValue:
    """A value that the compiled forward returns for the backward: its FX node, Inductor's buffer, and its kind.

    Inductor may keep a copy of an input in another layout: the copy has its own buffer, and is an activation.
    """

    name: str
    buffer: str
    kind: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Partition:
    """The partitioner's decision for each node of the joint graph with the id `graph`.

    `dropped` are nodes that were dead or equal to others, `reasons` and `policies` are torch's, by node. A partition
    that was not recorded is derived from the three graphs: without reasons, and with nodes that joint passes removed
    among the dropped. `saved` is the partitioner's view, before Inductor; `kept` are the values that the compiled
    forward keeps, None if not recorded.
    """

    graph: str
    recorded: bool
    decisions: dict[str, Decision]
    saved: tuple[SavedValue, ...]
    reasons: dict[str, tuple[str, ...]]
    policies: dict[str, str]
    dropped: tuple[str, ...]
    subgraph: str = ""
    kept: tuple[KeptValue, ...] | None = None
