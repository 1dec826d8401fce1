"""Facts about a run: setting, calls, results, errors, fingerprints of ranks, profile, and vLLM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.report.places import Frame, Payload, Place, Record

# First line of the C++ frames in an error message of torch.
CPP_FRAMES = "Exception raised from"
RemarkKind = Literal["asks whether it is compiled", "sets TORCH_LOGS", "slow text"]
How = Literal["", "compiled", "reused", "eager", "mixed", "raised"]


@dataclass(frozen=True, slots=True)
class Setting(Record):
    """The setting of a run: logged once, as the first record. An imported log has only torch's version."""

    job: dict[str, Any] | None = None
    """the whole `CompileJob`, as in `job.json`"""
    run: str = ""
    """the run's id"""
    torch: str = ""
    """torch's version"""
    python: str = ""
    """Python's version"""
    device: str = ""
    """the driver's name of the device"""
    threads: int | None = None
    """torch's intra-op threads"""
    cpus: int | None = None
    """the machine's CPUs"""
    target: str = ""
    """key of the target that code is cross-compiled for, otherwise empty"""


@dataclass(frozen=True, slots=True)
class SourceRemark:
    """A line of the user's own file that affects torch.compile, with the remark about it."""

    kind: RemarkKind
    line: Frame


@dataclass(frozen=True, slots=True)
class Source:
    """A source file at the time of the run; only the model's own file has `remarks`."""

    path: str
    payload: Payload
    remarks: tuple[SourceRemark, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A comparison of compiled with eager for one result of a call.

    The result `what` is an output, gradient, input, or part of the state. `kind` is the compared property: value,
    type, layout, device, dtype, shape, strides, requires_grad, tree, Python value, aliasing, mutation. `same` is
    None if undecided; `reason` is why it is undecided, or why unequal results count as the same. `error` is the
    norm of the difference divided by eager's norm, None if it is not a finite number or was not recorded.
    `tolerance` is the dtype's tolerance for `error`. `refused_by_torch` is True if torch's own accuracy check,
    `torch._dynamo.utils.same` with a float64 reference, refuses a result that is not refused here; None if the check
    was not necessary or not possible.
    """

    what: str
    same: bool | None
    kind: str = "value"
    expected: str = ""
    actual: str = ""
    reason: str = ""
    dtype: str = ""
    max_abs: float = 0.0
    error: float | None = None
    tolerance: float = 0.0
    refused_by_torch: bool | None = None


@dataclass(frozen=True, slots=True)
class Call(Record):
    """A call of the model, eager and compiled, on two copies that were loaded and seeded in the same way.

    Outputs and gradients always have a row of `differences`; inputs and state have one if a call changed them. The
    tolerance is 2e-5 for float32 and 1e-2 for bfloat16. Each element's error is divided by its magnitude or by the
    typical magnitude around it, whichever is larger. The root mean square of these errors must be within the tolerance
    for each part of the tensor (elements of similar magnitude), and within twenty times the tolerance for each row,
    each column and each element. Fill values (-1e9, finfo.min) don't count as typical magnitudes.

    If a result exceeds the tolerance, a third copy of the model, in float64, is loaded and decides: compiled is the
    same if its error is at most 3 times eager's (10 times for fewer than ten elements). Elements where eager lost its
    digits (its error is at least 0.3 of the result in float64) are judged apart: they are the same if the rounding
    noise, measured by a float64 copy with random rounding errors, explains both errors. `same` is null if the call
    draws random numbers and compiled draws different ones, or if eager is not deterministic. A backward begins with
    random gradients, the same for every copy (1 for a scalar output), so that gradients are of order one for any output
    size.
    """

    index: int
    """number of the call, from 0"""
    inputs: str
    """the inputs in torch's notation: `f32[8, 64, 256]`"""
    eager_s: float | None
    """seconds of this call in eager mode"""
    compiled_s: float | None
    """seconds of this compiled call, compilation included; null in a run for a target, and if torch refused the call"""
    differences: tuple[Difference, ...]
    """the compared results, a row each, empty in a run for a target; `what` is the name: `output`,
    `output['logits'][0]`, ``gradient of `0.weight` ``, `input 0`, ``buffer `seen` ``, ``attribute `calls` ``, ``global
    `cache` ``"""
    compared: dict[str, int] = field(default_factory=dict)
    """number of compared results by kind: `output`, `gradient`, `input`, `parameter`, `buffer`, `attribute`, `global`;
    empty if not recorded
    """
    ended: str = ""
    """in a run for a target: torch's message if an op has no CPU code, which ends the call; `eager_s` is then null"""
    entered: int | None = None
    """number of call sites whose frame reused compiled code, counted by Dynamo's own hook; null if not recorded"""
    newest: tuple[str, ...] = ()
    """last used compilation of each frame with compiled code; Dynamo tries it first at the next call"""
    how: How = ""
    """kind of the compiled call: `compiled` (at least one compilation), `reused` (only compiled code), `eager` (no
    compiled code), `mixed` (compiled and eager code), or `raised`; empty if not recorded"""
    compilations: int | None = None
    """number of frames compiled during the call; null if not recorded"""
    raised: str = ""
    """torch's message if the stance `fail_on_recompile` refused the call; the run continues"""
    entry: int | None = None
    """in a run of a script: number of the called entry point in `Script.entries`, from 0"""
    stance: str = ""
    """in a run of a script: the stance of `torch.compiler.set_stance`; empty for `default`"""
    printed: str = ""
    """in a run of a fix or of an exercise: difference between the printed output of the compiled call and of the
    original code; empty if there is none"""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A callable that a script's torch.compile returned.

    `place` is the user's line with the call of torch.compile, `options` its arguments other than the backend. If a
    library makes the call, `library` is its line, and `place` the user's line that called the library.
    """

    name: str
    place: Place
    backend: str
    options: str = ""
    library: Place | None = None


@dataclass(frozen=True, slots=True)
class Script(Record):
    """The end of a script: logged once, if the job's file is run as it is.

    The results of a script are not compared with eager.
    """

    arguments: tuple[str, ...]
    """`sys.argv` after the script's name"""
    exit_code: int
    """0, the script's own exit code, or 1 for an exception"""
    seconds: float
    """seconds from its first line to its end"""
    entries: tuple[EntryPoint, ...]
    """the entry points, in the order in which torch.compile made them; at most 200"""
    calls: tuple[int, ...]
    """number of calls of each entry point; at most 2,000 outermost calls have a record of their own"""


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """Torch's own counters, and torch settings after the user's code ran: logged once, near the end.

    The report's counts must equal them. An imported log has only the recompile limit, from torch's metrics.
    """

    dynamo: dict[str, dict[str, int]]
    """`torch._dynamo.utils.counters`, group by group"""
    inductor: dict[str, int]
    """from `torch._inductor.metrics`: `generated_kernel_count`, `generated_cpp_vec_kernel_count`,
    `ir_nodes_pre_fusion`, `num_bytes_accessed`"""
    float32_matmul_precision: str = ""
    """`torch.get_float32_matmul_precision()` after the user's code ran: `highest` (no TF32), `high` or `medium`; empty
    if not recorded"""
    has_tf32: bool = False
    """true if the run's device supports TF32 for float32 matmuls"""
    recompile_limit: int | None = None
    """`torch._dynamo.config.recompile_limit` after the user's code ran, null if not recorded"""
    cudagraphs: dict[str, int] = field(default_factory=dict)
    """calls of torch's CUDA graph trees: `warm_ups`, `recordings`, `replays`; empty without a CUDA device"""


@dataclass(frozen=True, slots=True)
class CachePart:
    """A part of torch's caches, with the number of its entries and their bytes."""

    kind: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FilledCaches(Record):
    """Caches that an earlier process filled for the run: logged once, with warm caches or a bundle."""

    took_s: float
    """seconds of that process, loading the model included"""
    exit_code: int
    """its exit code, 0 if it filled the caches"""
    calls_s: tuple[float, ...] = ()
    """seconds of each of its compiled calls, compilation included"""
    files: tuple[CachePart, ...] = ()
    """files that it left, by torch's folder; files outside of these by their suffix"""
    bundle: tuple[CachePart, ...] = ()
    """artifacts in the bundle of `torch.compiler.save_cache_artifacts`, by torch's type; empty without a bundle"""
    bundle_bytes: int = 0
    """size of the bundle, 0 without one"""
    save_s: float | None = None
    """seconds of saving the bundle, null if it was not saved"""
    load_s: float | None = None
    """seconds of loading the bundle in the run, null if it was not loaded"""


@dataclass(frozen=True, slots=True)
class TracedFunction:
    """A function that Dynamo traced, at one place in the tree of calls.

    `parent` is the index of its caller in the list, None for the frame. `self_s` is without the functions that it
    calls.
    """

    name: str
    file: str
    line: int
    parent: int | None
    calls: int
    total_s: float
    self_s: float


@dataclass(frozen=True, slots=True)
class DynamoProfile(Record):
    """Dynamo's own profile of a compilation: seconds of tracing by function, from torch 2.13 on.

    Logged once for each attempt that traced the frame to its end.
    """

    functions: tuple[TracedFunction, ...]
    """functions in the order of their first call, callers before the functions that they call"""


@dataclass(frozen=True, slots=True)
class RunError(Record):
    """The exception that ended the run: logged once, if there was one."""

    stage: str
    """the current step: the last `compileboard_step`"""
    type: str
    """the exception's class"""
    field: str
    """the wrong field of the job, empty if the job is not the cause"""
    message: str
    """the exception's text"""
    frames: tuple[Frame, ...]
    """the user's own lines of the traceback"""
    traceback: str
    """the whole traceback, its last 40,000 characters"""
    eager_raises: bool | None = None
    """true if eager, without the stance `force_eager`, raises it, too; null if it was not tried"""

    @property
    def explanation(self) -> str:
        """Return the message after its first line, without torch's C++ frames.

        The C++ frames are also in the traceback.
        """
        return self.message.partition(CPP_FRAMES)[0].strip().partition("\n")[2].strip()


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the log that could not be read: a description, and the number of occurrences.

    `first_offset` is the byte offset of the first occurrence.
    """

    what: str
    count: int
    first_offset: int


MarkKind = Literal["start", "recompile", "break", "graph", "cache", "schedule", "tensors", "guards", "execution", "end"]
# Stages that a compilation logs only if the caches had no code for it.
LATER_KINDS = frozenset({"schedule", "tensors"})
EARLY_GRAPHS = frozenset({"dynamo_output_graph", "optimize_ddp_split_graph", "optimize_ddp_split_child"})


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective of a graph: its op, its tensor, its further arguments, and its group.

    The tensor is as torch prints it (`f32[4]`). Groups are numbered by first use in the log, since their names
    differ between ranks.
    """

    op: str
    tensor: str
    arguments: str
    group: int


@dataclass(frozen=True, slots=True)
class RankMark:
    """A fact of a compilation that should be the same on all ranks.

    `name` depends on `kind`: the compiled function, the failed compilation, the place of a graph break, the stage
    of a graph, the cache, or the direction. `text` is short: reason, outcome, error. `digest` is the digest of
    the normalised text: without addresses, ids, folders and device indices. `where` is the log place of the text,
    None without a text.
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
        """Return True for a stage that is only logged if the caches had no code for the compilation."""
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
    """The facts of one rank's log that are compared with other ranks.

    `digest` covers all marks without their places in the log. `parallel` names the wrappers that call collectives
    outside the graphs (DDP, FSDP), and `devices` are device types. `last_time` is torch's time of the last record;
    `is_cut` is True if that record is incomplete. `dropped` counts the marks beyond the limit. `problem` is why a log
    was not read.
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


SliceKind = Literal["kernel", "copy", "launch", "op", "annotation", "overhead"]
# Slices of a device; all other slices are of host threads.
DEVICE_KINDS = ("kernel", "copy")
# Start of the note of a run that was to record a profile and could not; its reason follows.
NOT_RECORDED = "No profile was recorded: "
# Start of the name of the slices in which a run made the inputs of a call, or seeded it.
PREPARING = "preparing call "


@dataclass(frozen=True, slots=True)
class ProfileTrack:
    """A host thread or a device's stream, with its name; `device` is empty for a host thread."""

    name: str
    device: str = ""


@dataclass(frozen=True, slots=True)
class ProfileSlice:
    """A slice of time on a track, in microseconds since the first slice of the profile.

    `correlation` is a number that a launch and its kernels share. `external` is the number of the host op that a
    kernel belongs to. `sequence` is a number that a forward op and its backward share. Each is 0 if the profile
    has none.
    """

    name: str
    kind: SliceKind
    track: int
    start_us: float
    end_us: float
    correlation: int = 0
    external: int = 0
    sequence: int = 0

    @property
    def length_us(self) -> float:
        """Return the duration in microseconds."""
        return self.end_us - self.start_us


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: its tracks, its slices by start, and the number of events in the file.

    `problems` has the counts of unreadable parts.
    """

    tracks: tuple[ProfileTrack, ...]
    slices: tuple[ProfileSlice, ...]
    events: int
    problems: dict[str, int] = field(default_factory=dict)

    @property
    def length_us(self) -> float:
        """Return the time from the first slice's start to the last slice's end, in microseconds."""
        return max((piece.end_us for piece in self.slices), default=0.0)

    @property
    def has_device(self) -> bool:
        """Return True if a kernel or a copy of a device was recorded."""
        return any(piece.kind in DEVICE_KINDS for piece in self.slices)


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
