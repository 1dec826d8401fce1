"""Records that the worker adds about a compilation, and about a run as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import (
    Binary,
    CaptureWay,
    Decision,
    EagerCall,
    Execution,
    Executions,
    Frame,
    FusionRound,
    GuardFilter,
    KeptValue,
    KernelTime,
    Load,
    Module,
    SavedValue,
)
from core.report.measurements import MemoryFigures
from core.report.nodes import Direction, PassStage
from core.report.places import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulesRecord(Record):
    """The `nn.Module` of each FX node, which torch's printed graphs do not show.

    Logged once per graph and stage. For backends other than Inductor, `pre_grad` is Dynamo's graph, and `joint` the
    graph that AOTAutograd traced. A node without torch's module metadata gets the module of a related node. For
    a backward node, the related node is the forward node with the same autograd sequence number. For a node that
    a pass added, the related node is a node that the pass replaced, or a user or an input of the added node. A node
    outside all submodules gets the module whose `forward` is traced, such as `L['self']`.
    """

    stage: str
    """`pre_grad` or `joint`"""
    modules: dict[str, Module] = field(default_factory=dict)
    """FX node → [path of the module, its class], for the graph before and after the stage's passes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StacksRecord(Record):
    """The Python stack of each FX node, from the compiled frame down to the call.

    Logged once per graph and stage, like `compileboard_modules`. Torch's printed graphs name only the last line.
    Stacks share their beginnings: a stack is the index of its parent stack (-1 for none) and the index of its
    last frame.
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
    """A change by one of Inductor's graph passes, which `GraphTransformObserver` runs.

    Logged for each change. A pass includes its nested passes. The record belongs to the last graph that torch logged
    before the pass. Two functions without an observer are recorded, too. `run_joint_graph_passes_on_hops` partitions
    each `invoke_subgraph` before the joint graph is partitioned. `view_to_reshape` runs before torch logs
    `before_post_grad_graph`, but its record belongs to that graph.
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
    """Facts about a compilation's guards that torch's text lacks.

    Logged once per compilation, after torch's text.
    """

    parts: tuple[int, ...]
    """number of code parts (lines) of each leaf guard, in torch's printed order"""
    warm_us: float | None = None
    """microseconds to check all guards, the minimum of 20 checks in a row; null if they could not be checked"""
    copy_us: float | None = None
    """microseconds to check a copy of the tree, the minimum of 8; the other copies lack some of its guards. A copy
    can't skip guards by torch's record of unchanged dictionaries
    """
    families_us: dict[str, float] = field(default_factory=dict)
    """`module`, `global`, `tensor`: microseconds that a copy without the family saves; `shape`, `number`: the sum of
    their guards, each measured alone
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
    """The values that a training forward graph returns for the backward, in order.

    Logged once per forward graph that Inductor schedules.
    """

    graph_id: int | None = None
    """Inductor's number of the graph"""
    values: tuple[KeptValue, ...]
    """the values; `kind` is `input` for an unchanged input, otherwise `activation`; `bytes` is null for symbolic sizes
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class BytecodeRecord(Record):
    """Bytecode of a compilation's frame before and after Dynamo.

    Logged as soon as Dynamo has rewritten the frame. If `depyf` is installed, logged again with the decompiled
    code, after the call has ended. Constants other than numbers, strings and code (such as the globals that
    Dynamo inserts) are listed by type.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledNode:
    """A `BaseSchedulerNode`, before or after fusion."""

    name: str
    """torch's name"""
    kind: str
    """torch's class"""
    nodes: tuple[str, ...]
    """the names of its fused nodes"""
    ops: tuple[str, ...]
    """classes of Inductor's IR"""
    reads: dict[str, int]
    """buffer → bytes read"""
    writes: dict[str, int]
    """buffer → bytes written"""
    at_most: tuple[str, ...] = ()
    """the buffers whose bytes are a bound"""
    origins: tuple[str, ...]
    """FX nodes"""
    flops: int | None
    """torch's FLOP count of a library call or template, attention by a formula; null otherwise"""
    iterations: int | None = None
    """number of loop iterations, reductions included; null if it has no loops"""
    device: str
    """the node's device"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferLayout:
    """A buffer's layout; symbolic sizes are text."""

    dtype: str
    """torch's name of the dtype"""
    shape: tuple[str, ...]
    """in elements"""
    stride: tuple[str, ...]
    """in elements"""
    input: bool
    """true if it is an input of the graph"""
    output: bool
    """true if it is an output of the graph"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRecord(Record):
    """The scheduler's nodes before and after fusion: logged once per graph that Inductor schedules.

    The rule for bytes: a node accesses a buffer through index expressions. Each expression counts the distinct elements
    that it addresses in the loops; a data-dependent index counts one element per iteration. An expression that several
    nodes of a kernel share counts once, and a buffer counts at most its size. Reads of buffers that the kernel wrote
    itself don't count, nor do writes of buffers that nothing else needs. A library call reads its argument views and
    writes the buffers that it returns or changes. A call that only returns a view moves nothing. A call of a branch or
    loop moves nothing either, since the branch or loop has its own schedule. A size that is known only at run time
    counts as 0.
    """

    graph_id: int | None = None
    """Inductor's number of the graph"""
    direction: Direction
    """`forward`, `backward` or `inference`"""
    subgraph: str = ""
    """the name of the branch, loop body or other inner graph; empty for the graph itself"""
    one_count: bool = False
    """true if bytes are counted by the rule above, both before and after fusion. Otherwise they are from torch's
    `get_read_write_buffer_accesses`, which counts the whole buffer for each fused node and cannot be compared"""
    nodes_before: tuple[ScheduledNode, ...]
    """the nodes before fusion"""
    nodes_after: tuple[ScheduledNode, ...]
    """the nodes after fusion"""
    rounds: tuple[FusionRound, ...]
    """one entry per fusion round: the fused pairs in order, and the refused pairs with torch's reason (without
    duplicates, at most 20,000 per graph)"""
    buffers: dict[str, BufferLayout]
    """the buffers that the nodes read or write, by name"""
    modules: dict[str, Module] = field(default_factory=dict)
    """as in `compileboard_modules`, for the post-grad graph"""
    eager_calls: tuple[EagerCall, ...] = ()
    """the ATen calls of eager that the post-grad graph was decomposed from, by torch's `original_aten`, `from_node` and
    `seq_nr` of each node. A backward's calls don't include the ops of the forward that it computes again. Bytes are
    estimates: each input is read once, and each result is written once"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord(Record):
    """A kernel that Inductor names, extern kernels included: logged once per kernel."""

    graph_id: int | None = None
    """as in `compileboard_schedule`"""
    direction: Direction = ""
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""
    handle: int | None = None
    """the debug handle in Inductor's provenance node mappings, null if there is none"""
    nodes: tuple[str, ...] = ()
    """the scheduler nodes in the kernel"""
    extern: bool = False
    """true if it is a library call"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryRecord(Binary, Record):
    """A Triton kernel compiled to machine code in a run for a target.

    Logged once per kernel of an output code.
    """

    graph_id: int
    """as in `compileboard_schedule`"""
    direction: Direction
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(Record):
    """A source file at the time of the run.

    Logged once per file: first the user's own files, then the other files in torch's stacks. Files in stacks are
    recorded only if they are Python files of at most 1 MB, and 8 MB in total. Files of Python's own library, of
    Compileboard, and of torch outside `torch.nn` and `torch.optim` are left out.
    """

    path: str
    """the file's path in torch's stacks"""
    text: str = ""
    """the file's text"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """A step that the worker begins; the live view shows the newest."""

    name: str
    """the step in words: `loading the model`, `call 0: compiled`, `measuring`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord(Record):
    """A note about how the job was run.

    For example: the job's options replaced the file's own torch.compile.
    """

    text: str
    """one or two sentences"""
    lost: bool = False
    """true if torch's later records are missing from the log"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord(Record):
    """The end of a complete log: logged once, as the last record.

    If a run has the status done but no such record in its log, the run crashed: its process exited early, or its code
    closed the log. Before each record the worker checks that the log is still the file that torch opened, not shorter
    and not deleted. If a check failed, the end record does not count. Logs of older versions have no end record: the
    end of their runs is in `status.json`.
    """

    outcome: str
    """`done`, `failed` or `out of memory`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel(KernelTime):
    """A line of the output code that calls a kernel, with its times."""

    line: int
    """the line, counted from 1"""
    name: str = ""
    """the kernel's name in the output code"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimesRecord(Record):
    """Times of each kernel call in an output code, extern kernels included.

    Logged once per output code that the last call executed, forward and backward, if the job measures. If nothing
    was timed, `path` is empty and `reason` says why.

    On an accelerator, `samples_s` are from Inductor's own benchmarker, which flushes the L2 cache before each
    run; `in_place_s` and `wrapper_s` are times between device events, with all launches queued ahead.
    """

    path: str = ""
    """the file of the output code, as torch's `inductor_output_code` names it"""
    call_s: tuple[float, ...] = ()
    """seconds of the whole compiled call, calls back to back without eager calls between them"""
    wrapper_s: tuple[float, ...] = ()
    """seconds in Inductor's unchanged generated function `call`, for one call of the model"""
    calls: int = 0
    """number of calls of the output code in one call of the model"""
    kernels: tuple[TimedKernel, ...] = ()
    """the lines that call a kernel"""
    load: Load | None = None
    """the machine's other load while the kernels were timed"""
    reason: str
    """why nothing was timed, empty if it was"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(MemoryFigures):
    """The memory use of the last call, repeated eagerly or compiled.

    Logged once for each of the two sides, if the job asks for it.

    On a CPU each side has its own process, forked before the model was loaded. The process makes all calls. Then
    it repeats the last call: once as a warm-up, once for the resident memory, and twice under `torch.profiler`,
    where only the second is recorded. On an accelerator both sides run in the run's own process. Before each
    measurement, gradients and results are released, and free memory is returned to the system.
    """

    codes: tuple[str, ...] = ()
    """the files of the output codes that contain places, as torch's `inductor_output_code` names them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Executions of the callables that backends returned: logged once per run."""

    executions: tuple[Execution, ...]
    """the first executions of each compilation, in order"""
    totals: tuple[Executions, ...]
    """number of executions, one entry per compilation"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKeyRecord(Record):
    """Parts of a cache key that torch hashes without printing them.

    Logged for each key, before torch's outcome of the lookup.
    """

    cache: str
    """`fx_graph` or `aotautograd`"""
    graph: dict[str, str] = field(default_factory=dict)
    """torch's hash of each constant and attribute of the graph module, by name"""
    settings: dict[str, str] = field(default_factory=dict)
    """values of `torch._functorch.config`, which is one part of AOTAutograd's key"""
    versions: dict[str, str] = field(default_factory=dict)
    """versions of torch, Triton and Python, and the digest of torch's source"""
    environment: dict[str, str] = field(default_factory=dict)
    """environment variables that torch and Triton read, without folders"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureHead:
    """Header of the artifact `capture`, with the fields of `Capture`; the payload is the graph as text."""

    way: CaptureWay
    call: str
    seconds: float
    equal: bool | None = None
    problem: str = ""
    frames: tuple[Frame, ...] = ()
