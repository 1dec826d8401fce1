"""Records about the graphs of a compilation: modules, stacks, passes, guards, and the partition.

Records about a frame that Dynamo compiled: its bytecode before and after Dynamo.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import Decision, GuardFilter, KeptValue, Module, SavedValue
from core.report.inductor import PassStage
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulesRecord(Record):
    """The `nn.Module` of each FX node, which torch's printed graphs do not show: logged once per graph and stage.

    A node without torch's module metadata gets the module of a related node: a backward node of the forward node with
    the same autograd sequence number, a new node of a pass of the nodes that it replaced, its users, or its inputs. A
    node outside all submodules gets the module whose `forward` is traced (`L['self']`).
    """

    stage: str
    """`pre_grad` or `joint`"""
    modules: dict[str, Module] = field(default_factory=dict)
    """FX node → [path of the module, its class], for the graph before and after the stage's passes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StacksRecord(Record):
    """The Python stack of each FX node, from the compiled frame down to the call: logged once per graph and stage, like
    `compileboard_modules`; torch's printed graphs name only the last line.

    Stacks share their beginnings: a stack is the index of its parent stack (-1 for none), and the index of its last
    frame.
    """

    stage: str
    """`pre_grad` or `joint`"""
    frames: tuple[tuple[str, int, str], ...]
    """all frames, each [file, line, function]"""
    stacks: tuple[tuple[int, int], ...]
    """the stacks, each [parent stack, last frame]; a stack comes after its parent"""
    nodes: dict[str, int]
    """FX node → index of its stack, for the graph after the stage's passes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord(Record):
    """A change by one of Inductor's graph passes, which `GraphTransformObserver` runs: logged for each change.

    A pass includes its nested passes. The record belongs to the last graph that torch logged before it. Two functions
    without an observer are recorded in the same way: `run_joint_graph_passes_on_hops`, which partitions each
    `invoke_subgraph` before the joint graph, and `view_to_reshape`, which Inductor runs before it logs
    `before_post_grad_graph`, and which belongs to that graph.
    """

    stage: PassStage
    """the stage: `pre_grad`, `joint`, `before_post_grad` or `post_grad`"""
    subgraph: str = ""
    """the name of the nested graph that the pass ran on, `invoke_subgraph` if AOTAutograd ran it before the joint
    graph; empty for the whole graph
    """
    name: str
    """torch's name of the pass; empty for changes between two passes"""
    duration_us: float | None
    """microseconds in the pass, without the time to record it; null between passes"""
    source: str
    """`file:line` of the pass's function or its call; paths of torch's own files begin with `torch/`"""
    patterns: tuple[tuple[str, str, int], ...]
    """matched patterns: [name, `file:line` of the replacement or empty, number of matches]"""
    added: tuple[str, ...]
    """names of new nodes"""
    after: tuple[str, ...]
    """the node before each added node, empty if there is none"""
    removed: tuple[str, ...]
    """names of removed nodes"""
    rewritten: tuple[str, ...]
    """names of nodes whose op, target or arguments changed"""
    order: tuple[str, ...]
    """the names of all nodes in order, if remaining nodes changed places; otherwise empty"""
    reads: tuple[str, ...] = ()
    """names of the inputs of the added and rewritten nodes"""
    modules: dict[str, Module] = field(default_factory=dict)
    """as in `compileboard_modules`, for the added and rewritten nodes"""
    text: str
    """the added and rewritten nodes as torch prints them in a graph, with shapes, strides and devices; empty if torch
    cannot print them
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesRecord(Record):
    """The passes of a stage that changed nothing: logged once per stage, at its end."""

    stage: PassStage
    """as in `compileboard_pass`"""
    subgraph: str
    """as in `compileboard_pass`"""
    unchanged: tuple[tuple[str, float], ...]
    """[name, microseconds], in execution order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardsRecord(Record):
    """Facts about a compilation's guards that torch's text lacks: logged once per compilation, after torch's text."""

    parts: tuple[int, ...]
    """number of code parts (lines) of each leaf guard, in torch's printed order"""
    warm_us: float | None = None
    """microseconds to check all guards, the minimum of 20 checks in a row; null if they could not be checked"""
    copy_us: float | None = None
    """microseconds to check a copy of the tree, the minimum of 8; the other copies lack some of its guards. A copy
    can't skip guards by torch's record of unchanged dictionaries
    """
    families_us: dict[str, float] = field(default_factory=dict)
    """`module`, `global`, `tensor`: microseconds that a copy without the family saves; `shape`: the sum of its guards,
    each measured alone
    """
    filters: tuple[GuardFilter, ...] = ()
    """the guards that each filter of `torch.compiler` keeps, measured on copies without the other guards"""
    checks_us: tuple[float | None, ...] = ()
    """microseconds of each leaf's check alone, in the order of `parts`, minus the cheapest check (the call overhead);
    null if it cannot be called, or if the compilation's time limit for measuring is used up
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecord(Record):
    """The partition of a joint graph by AOTAutograd's min-cut partitioner: logged once per joint graph."""

    subgraph: str
    """as in `compileboard_pass`"""
    decisions: dict[str, Decision]
    """node → `forward`, `backward`, `saved` (in the forward, and an input of the backward) or `recomputed` (in both)"""
    saved: tuple[SavedValue, ...]
    """the saved values, with empty `reasons` and `policy`: the fields below have these by node"""
    reasons: dict[str, tuple[str, ...]]
    """node → torch's labels on its edges of infinite capacity in the min-cut network: `cannot recompute: compute
    intensive op` …
    """
    policies: dict[str, str]
    """node → its checkpoint policy, if it has one: `MUST_SAVE`, `PREFER_RECOMPUTE` …"""
    dropped: tuple[str, ...]
    """nodes of the joint graph that the partitioner removed first, as dead code or as duplicates"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecord(Record):
    """The values that a training forward graph returns for the backward, in order: logged once per forward graph that
    Inductor schedules.
    """

    graph_id: int | None = None
    """Inductor's number of the graph"""
    values: tuple[KeptValue, ...]
    """the values; `kind` is `input` for an unchanged input, otherwise `activation`; `bytes` is null for symbolic sizes
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class BytecodeRecord(Record):
    """Bytecode of a compilation's frame before and after Dynamo: logged as soon as Dynamo has rewritten it, and again
    with the decompiled code once its call has ended.

    Constants other than numbers, strings and code (such as the globals that Dynamo inserts) are listed by type.
    """

    name: str
    """the function's name in its code, such as `torch_dynamo_resume_in_forward_at_31` for a resume function"""
    qualname: str = ""
    """the function's qualified name: `Classifier.forward`"""
    file: str
    """the code's file"""
    line: int
    """its first line"""
    original: str
    """the code before, as Python's `dis` lists it, its first 200,000 characters"""
    modified: str
    """the code after, in the same form"""
    resumes: dict[str, str] = field(default_factory=dict)
    """name of a resume function in the modified code → the function's name in its own code"""
    has_decompiler: bool | None = None
    """true if `depyf` is installed with torch; null in logs of older versions"""
    decompiler: str = ""
    """the decompiler with its version: `depyf 0.20.0`; empty if it is not installed, or while the call runs"""
    original_python: str = ""
    """for a resume function, which has no source: the code before, decompiled, its first 200,000 characters; empty if
    it could not be decompiled"""
    modified_python: str = ""
    """for every function: the code after, decompiled in the same way"""
    not_decompiled: str = ""
    """why one of the two could not be decompiled"""
