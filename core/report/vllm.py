"""vLLM's part of the report: its compile calls, their configuration, and their piecewise compilations."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report.places import Payload


@dataclass(frozen=True, slots=True)
class PiecewiseArtifact:
    """A record of torch within a piecewise compilation.

    `kind` is the kind of the record, such as `inductor_output_code`, and `text` the place of its payload.
    """

    kind: str
    text: Payload


@dataclass(frozen=True, slots=True)
class PiecewiseGraph:
    """A subgraph between two splitting ops, as vLLM printed it.

    `computation` identifies the computation, whatever the nodes are called: subgraphs with equal `computation` are
    equal. `structure` also leaves text constants out, such as the name of a layer: subgraphs that differ in
    `computation` alone differ only in such a constant. `constants` are these texts. Both are empty if the text could
    not be parsed. `ops` is the number of calls.
    """

    name: str
    text: Payload
    ops: int
    computation: str
    structure: str
    constants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PiecewiseCompilation:
    """A compilation of a subgraph for `first` to `last` tokens.

    It is for the one size `first` if `is_single_size`.

    `caches` are the outcomes of torch's cache lookups, cache → hit, miss, bypass or disabled. `seconds` are the time
    from vLLM's start record to torch's last record of this compilation; None without such a record. `cudagraph` is
    True if the size is one for which vLLM captures a CUDA graph. `total` is the number of subgraphs that vLLM compiles;
    None if it was not recorded.
    """

    subgraph: str
    first: int
    last: int
    is_single_size: bool
    cudagraph: bool
    total: int | None
    caches: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    artifacts: tuple[PiecewiseArtifact, ...] = ()


@dataclass(frozen=True, slots=True)
class VllmCall:
    """A call of vLLM's backend: one part of a model, such as `backbone` or `eagle_head`.

    `event` is vLLM's word for what it did, such as `fresh_compile` or `aot_cache_hit`; empty if it was not recorded.
    `config` is the configuration as vLLM logged it, empty if it was not recorded. `split` is the graph of all
    subgraphs. `compile_id` is Dynamo's compilation that called the backend, empty without one.
    """

    event: str = ""
    config: dict[str, str] = field(default_factory=dict)
    compile_id: str = ""
    split: Payload | None = None
    graphs: tuple[PiecewiseGraph, ...] = ()
    compilations: tuple[PiecewiseCompilation, ...] = ()
