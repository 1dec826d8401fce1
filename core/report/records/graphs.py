"""Records about the graphs of a compilation: modules, passes, guards, and how the joint graph was divided.

Records about a frame that Dynamo compiled: its bytecode before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import Decision, GuardFilter, KeptValue, Module, SavedValue
from core.report.inductor import PassStage
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulesRecord(Record):
    """The `nn.Module` of each FX node, which torch's printed graphs do not show: logged once a graph and stage.

    A node without a module of torch's is placed by its other facts: a backward node with the forward node of the same
    autograd sequence number, a node called in no submodule with the module whose `forward` is traced (`L['self']`), a
    node that a pass made with the nodes that it replaced, its readers, or its inputs.
    """

    stage: str
    """`pre_grad` or `joint`"""
    modules: dict[str, Module] = field(default_factory=dict)
    """FX node to [path of the module, its class], of the graph before and after the stage's passes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StacksRecord(Record):
    """The lines of Python that each FX node comes from, from the compiled frame down to the call itself: logged once a
    graph and stage, as `compileboard_modules`; torch's printed graphs name only the last line.

    Stacks share their beginnings: a stack is the number of the stack around it, -1 for none, and the number of its last
    frame.
    """

    stage: str
    """`pre_grad` or `joint`"""
    frames: tuple[tuple[str, int, str], ...]
    """the frames that occur, each [file, line, function]"""
    stacks: tuple[tuple[int, int], ...]
    """the stacks, each [stack around it, last frame]; a stack comes after the stack around it"""
    nodes: dict[str, int]
    """FX node to its stack, of the graph after the stage's passes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord(Record):
    """A change by one of Inductor's graph passes, as torch's `GraphTransformObserver` runs them: logged for each.

    Passes within a pass are part of it. It belongs to the graph that torch logged last before it. Two functions without
    an observer are recorded in the same way: `run_joint_graph_passes_on_hops`, which divides each `invoke_subgraph`
    ahead of the joint graph, and `view_to_reshape`, which Inductor runs before it logs `before_post_grad_graph`, and
    which belongs to that graph.
    """

    stage: PassStage
    """the round of passes: `pre_grad`, `joint`, `before_post_grad` or `post_grad`"""
    subgraph: str = ""
    """the name of the nested graph that it ran over, `invoke_subgraph` if AOTAutograd runs it ahead; empty for the
    whole graph
    """
    name: str
    """torch's name of the pass; empty for changes that were made between two passes"""
    duration_us: float | None
    """microseconds in the pass, without recording it; null between passes"""
    source: str
    """`file:line` of the pass's function, or of its call; torch's own files from `torch/` on"""
    patterns: tuple[tuple[str, str, int], ...]
    """patterns that matched: [name, `file:line` of the replacement or empty, how often]"""
    added: tuple[str, ...]
    """names of new nodes"""
    after: tuple[str, ...]
    """for each added node the node before it, empty for the first"""
    removed: tuple[str, ...]
    """names of removed nodes"""
    rewritten: tuple[str, ...]
    """names of nodes with another op, target, or arguments than before"""
    order: tuple[str, ...]
    """the names of all nodes, if remaining nodes changed places, otherwise empty"""
    reads: tuple[str, ...] = ()
    """names of the inputs of the added and rewritten nodes"""
    modules: dict[str, Module] = field(default_factory=dict)
    """as in `compileboard_modules`, for the added and rewritten nodes"""
    text: str
    """the added and rewritten nodes as torch prints them in a graph, with shapes, strides and devices; empty if it
    cannot
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesRecord(Record):
    """The passes of a stage that changed nothing: logged once a stage, after it."""

    stage: PassStage
    """as in `compileboard_pass`"""
    subgraph: str
    """as in `compileboard_pass`"""
    unchanged: tuple[tuple[str, float], ...]
    """[name, microseconds], in order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardsRecord(Record):
    """Facts about the guards of a compilation that torch's text lacks: logged once a compilation, after
    torch's text.
    """

    parts: tuple[int, ...]
    """for each leaf guard of the tree, in torch's printed order, the number of lines that are its parts"""
    warm_us: float | None = None
    """microseconds of one check of all, the least of 20 in a row; null if they could not be checked"""
    copy_us: float | None = None
    """the same for a copy of the tree, the least of 8, which is measured without some of its guards; a copy lacks
    torch's memory of unchanged dictionaries, by which it skips guards
    """
    families_us: dict[str, float] = field(default_factory=dict)
    """`module`, `global`, `tensor`: microseconds that a copy without that family takes less; `shape`: the sum of its
    guards, each by itself
    """
    filters: tuple[GuardFilter, ...] = ()
    """the guards that filters of `torch.compiler` keep, measured on copies without the others"""
    checks_us: tuple[float | None, ...] = ()
    """for each leaf as in `parts` the microseconds of its check by itself, less those of the cheapest, which is the way
    from Python; null if it cannot be called, and once a compilation's time for measuring is used up
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecord(Record):
    """The division of a joint graph into forward and backward by AOTAutograd's min-cut partitioner:
    logged once a joint graph.
    """

    subgraph: str
    """as in `compileboard_pass`"""
    decisions: dict[str, Decision]
    """node to `forward`, `backward`, `saved` (of the forward, and an input of the backward) or `recomputed` (in both)
    """
    saved: tuple[SavedValue, ...]
    """the saved values; their `reasons` and `policy` are empty, and are in the fields below by node"""
    reasons: dict[str, tuple[str, ...]]
    """node to torch's labels on the edges that bind it in the network that is cut: `cannot recompute: compute intensive
    op` …
    """
    policies: dict[str, str]
    """node to its checkpoint policy, if it has one: `MUST_SAVE`, `PREFER_RECOMPUTE` …"""
    dropped: tuple[str, ...]
    """nodes of the joint graph that the partitioner removed first, since nothing reads them or another is equal"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecord(Record):
    """The values that a forward graph of training returns for the backward, in order: logged once for
    each that Inductor schedules.
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

    Constants other than numbers, texts and code, such as the globals that Dynamo puts into its functions, are listed by
    their type.
    """

    name: str
    """the function's name in its code, such as `torch_dynamo_resume_in_forward_at_31` for a resume function"""
    qualname: str = ""
    """its name with the class and the functions that it is defined in: `Classifier.forward`"""
    file: str
    """the code's file"""
    line: int
    """its first line"""
    original: str
    """the code before, as Python's `dis` lists it, its first 200,000 characters"""
    modified: str
    """the code after, in the same form"""
    resumes: dict[str, str] = field(default_factory=dict)
    """name of a resume function in the modified code, to the function's name in its own code"""
    has_decompiler: bool | None = None
    """whether `depyf` is installed beside torch; null in the log of an older version"""
    decompiler: str = ""
    """the decompiler with its version: `depyf 0.20.0`; empty if it is not installed, or while the call runs"""
    original_python: str = ""
    """the code before, decompiled, its first 200,000 characters, of a resume function, which has no source; empty if it
    could not be decompiled"""
    modified_python: str = ""
    """the code after, decompiled in the same way, of every function"""
    not_decompiled: str = ""
    """why one of them could not be decompiled"""
