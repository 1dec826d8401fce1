"""Nodes and kernels of graphs: FX nodes, scheduler nodes, graph passes, partitions, and kernels.

The nodes of an FX graph are parsed when the graph is shown. In a run for a target, kernels are compiled to
machine code, and torch makes its decisions without the device.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Literal

from core.report.places import Module, Payload, Place, Record, user_line

Op = Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]
# Torch's dtype name → the short name that torch prints in annotated graph code.
SHORT_DTYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "b8",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
}
BITS = re.compile(r"^[a-z]+(\d+)")
# Cached, since many nodes of a graph have the same shape.
MOST_REMEMBERED = 4096  #: cached results of one function on nodes


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """The value of a node as torch prints it: dtype, shape, stride and device.

    The dtype is torch's short name. Shape and stride are in elements, with symbols as text.
    """

    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...] = ()
    device: str = ""


@dataclass(frozen=True, slots=True)
class FxNode:
    """A node: `name`, `op` and `target` as in torch.fx; `args` is the text of the call's arguments.

    `inputs` are the names of the nodes that it reads, in order and without duplicates; `line` is its line in the
    graph's text. `source` is the user's line that the graph's comment names, and `code` the text of that line. `stack`
    has the lines from the compiled frame down to the call, innermost last; empty if not recorded. `graph` are the nodes
    of the nested graph, such as a branch, that a `get_attr` node names.
    """

    name: str
    op: Op
    target: str
    args: str
    inputs: tuple[str, ...]
    meta: TensorMeta | None
    line: int
    source: Place | None = None
    code: str = ""
    module: str = ""
    module_class: str = ""
    stack: tuple[Place, ...] = ()
    graph: tuple[FxNode, ...] = ()

    @property
    def place(self) -> Place | None:
        """The line that the node is from, by preference the user's own; None if not recorded."""
        return user_line(self.stack) or self.source


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line of the user that Dynamo traced several times, as in an unrolled loop.

    Of a graph's repeated lines it is the one with the most nodes. `times` counts how often it was traced, and `nodes`
    the nodes of all lines of its function that were traced at least as often.
    """

    place: Place
    times: int
    nodes: int


@dataclass(frozen=True, slots=True)
class CastWeights:
    """Parameters and buffers that a graph converts to another dtype.

    `place` is the line that converts the largest one, `dtypes` its dtypes, as `bf16 to f32`. `share` is the part of
    the bytes of all parameters and buffers of the graph.
    """

    place: Place
    dtypes: str
    share: float


def tensor_text(dtype: str, shape: Sequence[int | str], stride: Sequence[int | str] | None = None) -> str:
    """Return a tensor as PyTorch annotates its graphs: "f32[8, 64]", with stride "f32[8, 64][64, 1]"."""
    name = dtype.removeprefix("torch.")
    strides = "" if stride is None else _list(stride)
    return f"{SHORT_DTYPES.get(name, name)}{_list(shape)}{strides}"


def _list(values: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, values))}]"


@lru_cache(maxsize=MOST_REMEMBERED)
def tensor_size(dtype: str, shape: tuple[str, ...]) -> int | None:
    """Return the bytes of a tensor from torch's short dtype and its shape; None if either is unknown.

    The shape is text, so a symbolic size is unknown. An element takes at least one byte: the item size of
    `torch.float4_e2m1fn_x2`, for example, is 1.
    """
    bits = BITS.match(dtype)
    if bits is None or not all(length.isdecimal() for length in shape):
        return None
    return prod(map(int, shape)) * max(int(bits[1]), 8) // 8


Direction = Literal["forward", "backward", "inference", "joint", ""]
PassStage = Literal["pre_grad", "joint", "before_post_grad", "post_grad"]
Decision = Literal["forward", "backward", "saved", "recomputed"]
ConfigValue = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of the generated code: dtype, shape and stride in elements; symbolic sizes are text."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...]
    input: bool
    output: bool


@dataclass(frozen=True, slots=True)
class SchedulerNode:
    """A `BaseSchedulerNode`; `nodes` are the names of its fused nodes, or its own name if it is not fused.

    `reads` and `writes` are (buffer, bytes), upper bounds for the buffers in `at_most`; `origins` are FX nodes;
    `kernel` is its kernel, empty if none was generated; `flops` is None if torch has no estimate; `iterations` is the
    number of its loop iterations, reductions included, None if it has no loops or they were not recorded.
    """

    name: str
    kind: str
    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]
    origins: tuple[str, ...]
    flops: int | None
    device: str
    kernel: str = ""
    at_most: tuple[str, ...] = ()
    iterations: int | None = None

    @property
    def bytes_accessed(self) -> int:
        """Return the sum of bytes read and written."""
        return sum(size for _, size in (*self.reads, *self.writes))

    @property
    def unpacks(self) -> bool:
        """Return True for a node that only names one of several results of a library call."""
        return self.ops == ("MultiOutput",)

    @property
    def runs(self) -> bool:
        """Return True for a loop or a call; a node that runs nothing only names memory that others write."""
        return not self.unpacks and self.kind != "NopKernelSchedulerNode"


@dataclass(frozen=True, slots=True)
class FusionRound:
    """A fusion round over all pairs: the fused pairs in order, and the refused pairs with torch's reasons."""

    fused: tuple[tuple[str, str], ...]
    rejected: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class EagerCall:
    """A call of an ATen op as AOTAutograd traces it, with the FX nodes that it was decomposed into.

    Eager may run a call as several ops: on a CPU, it runs `native_dropout` as four. `bytes` estimates the call's memory
    traffic: each input is read once, and each result is written once.
    """

    op: str
    nodes: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The scheduler's facts about one graph.

    `subgraph` names a branch, a loop body or another nested graph; `one_count` is True if bytes were counted by the
    same rule before and after fusion. Older records use torch's counts, whose rule differs for fused nodes.
    `eager_calls` is empty if they were not recorded.
    """

    graph_id: int
    direction: Direction
    before: tuple[SchedulerNode, ...]
    after: tuple[SchedulerNode, ...]
    rounds: tuple[FusionRound, ...]
    buffers: tuple[Buffer, ...]
    modules: dict[str, Module]
    subgraph: str = ""
    one_count: bool = False
    eager_calls: tuple[EagerCall, ...] = ()

    @property
    def bytes_before(self) -> int | None:
        """Return the memory traffic without fusion, in bytes.

        None if the bytes before and after fusion were counted by different rules.
        """
        return sum(node.bytes_accessed for node in self.before) if self.one_count else None

    @property
    def bytes_after(self) -> int | None:
        """Return the memory traffic after fusion, in bytes.

        None if the bytes before and after fusion were counted by different rules.
        """
        return sum(node.bytes_accessed for node in self.after) if self.one_count else None

    @property
    def is_recorded(self) -> bool:
        """Return True if the nodes are the scheduler's own; other nodes stand for calls in the generated code."""
        return any(node.kind for node in self.before)

    @property
    def has_steps(self) -> bool:
        """Return True if the ops of each scheduler node and the fusions were recorded."""
        return self.is_recorded and (self.one_count or bool(self.rounds))

    @property
    def at_most(self) -> bool:
        """Return True if the traffic is only an upper bound, for example for a read by an index tensor."""
        return any(node.at_most for node in (*self.before, *self.after))


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A pattern of torch's pattern matcher, with its number of matches.

    `source` is the place of the replacement, None if torch does not log the place.
    """

    name: str
    source: Place | None
    count: int


@dataclass(frozen=True, slots=True)
class GraphPass:
    """A pass that changed a graph; an entry without a name contains the changes between two passes.

    `graph` is the id of the last graph that torch logged before the pass. For the stage `before_post_grad` it is the id
    of the next logged graph, since torch logs the forward and backward graphs together before that stage. `nodes` are
    the added and rewritten nodes; `after` has the preceding node of each added node; `order` has the names of all nodes
    if the order of other nodes changed. `subgraph` is the name of the nested graph that the pass ran on, empty for the
    whole graph.
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
    """The passes of one stage that changed nothing: (name, microseconds), in execution order."""

    stage: PassStage
    graph: str
    passes: tuple[tuple[str, float], ...]
    subgraph: str = ""


@dataclass(frozen=True, slots=True)
class SavedValue:
    """A value that the forward saves for the backward.

    `bytes` is None for symbolic sizes and for values other than tensors. `reasons` are the partitioner's, and
    `policy` is the node's checkpoint policy (MUST_SAVE …).
    """

    name: str
    kind: str
    bytes: int | None
    reasons: tuple[str, ...] = ()
    policy: str = ""


@dataclass(frozen=True, slots=True)
class KeptValue:
    """A value that the compiled forward returns for the backward.

    `name` is the FX node, and `buffer` is Inductor's buffer. Inductor may return a copy of an input in another
    layout: the copy has its own buffer, and its kind is activation. `bytes` is None for symbolic sizes.
    """

    name: str
    buffer: str
    kind: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Partition:
    """The partitioner's decision for each node of the joint graph with the id `graph`.

    `dropped` are nodes that were dead or equal to others; `reasons` and `policies` are torch's, by node. If the log has
    no record of the partition, it is derived from the three graphs: without reasons, and with the nodes removed by
    joint passes in `dropped`. `saved` are the values that the partitioner saves, before Inductor; `kept` are the values
    that the compiled forward returns for the backward, None if not recorded.
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


@dataclass(frozen=True, slots=True)
class AotMetadata:
    """The log place of AOTAutograd's metadata of a graph: inputs, mutations, aliases.

    The metadata is logged as the text of a torch dataclass.
    """

    text: Payload


@dataclass(frozen=True, slots=True)
class Estimates:
    """The log place of torch's estimates of a graph, as JSON.

    The JSON has the estimated run time and the results of each scheduled op.
    """

    text: Payload


@dataclass(frozen=True, slots=True)
class Collectives:
    """The collective calls of a graph, in the order of its code."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelTuning:
    """Torch's choice of a Triton kernel's config, logged after the kernel is compiled.

    `cache` is the state of the autotuning cache in torch's words: `hit`, `miss`, `only 1 config`, `force_disabled`.
    `configs` is the number of configs to time on a miss, otherwise None; `config` is the config that is used or that
    coordinate descent starts from, in Triton's format, empty if only timing decides.
    """

    cache: str
    configs: int | None = None
    config: str = ""
    descent: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A config of a Triton kernel, compiled to machine code, or the compiler's error.

    `chosen` is None if only timing on the device can decide. `registers` are per thread, `shared_bytes` per block.
    `spill_bytes` are a thread's register spills, `local_bytes` all of its local memory. `sizes` are bytes by stage
    (ttir … cubin or hsaco). `hash` is the key of Triton's cache entry with these files.
    """

    kwargs: dict[str, ConfigValue]
    num_warps: int
    num_stages: int
    chosen: bool | None
    compile_s: float
    error: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    local_bytes: int | None = None
    shared_bytes: int | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    hash: str = ""

    @property
    def text(self) -> str:
        """Return the config in one line, in Triton's format."""
        parameters = [f"{name}: {value}" for name, value in self.kwargs.items()]
        return ", ".join([*parameters, f"num_warps: {self.num_warps}", f"num_stages: {self.num_stages}"])


@dataclass(frozen=True, slots=True)
class Binary:
    """A Triton kernel compiled to machine code for a target."""

    heuristic: str
    """Inductor's kind of kernel: `pointwise`, `reduction`, `persistent_reduction`, `template`"""
    choice: str
    """how a config is chosen: `the only config`, or by timing"""
    configs: tuple[Config, ...]
    """the configs of Inductor's heuristics"""
    error: str = ""
    """why there are no configs"""

    @property
    def shown(self) -> Config | None:
        """Return the chosen config, or the first one if the choice needs timing; None without configs."""
        return next((config for config in self.configs if config.chosen), self.configs[0] if self.configs else None)


@dataclass(frozen=True, slots=True)
class TargetChoice(Record):
    """A decision for which torch would query the device.

    Logged once per decision and compilation, in a run for a target.
    """

    about: str
    """`scaled_dot_product_attention`, `autotuning of mm`, `padding of mm float32 [128, 42] by [42, 64]`"""
    chosen: str
    """the choice"""
    reason: str
    """the rule: torch's own, or that the choice needs timing"""
    among: tuple[str, ...]
    """the alternatives"""
