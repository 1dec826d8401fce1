"""Types of the report. Sizes are in bytes, times in seconds or microseconds, as the field names say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import msgspec

from core.base.decoder import converted, decoded, decoded_as
from core.base.errors import DecodeError, ReportError
from core.base.machine import Load
from core.report.aoti import Export, Neighbour, Package, PackageRun, PackageText, PackageTimes, RangeTrial
from core.report.backend import AnnotationTable, AnnotationText, Crossing, Execution, Executions, Invocation, Pipeline
from core.report.dynamo import (
    BreakRecord,
    Bytecode,
    Explanation,
    ExportIssue,
    Expression,
    GraphBreak,
    Guard,
    GuardCosts,
    Recompile,
    Specialization,
    Symbol,
    SymbolGuard,
)
from core.report.measurements import (
    Alternative,
    Autotuning,
    Bisection,
    BitComparison,
    CallNumerics,
    GraphNumerics,
    KernelTime,
    MemoryUse,
    Roofline,
    SideTimes,
    WrapperTime,
    report_with_sides,
)
from core.report.nodes import (
    AotMetadata,
    Binary,
    CastWeights,
    Collectives,
    Direction,
    Estimates,
    GraphPass,
    KernelTuning,
    Partition,
    RepeatedLine,
    Schedule,
    TargetChoice,
    UnchangedPasses,
)
from core.report.places import CacheEvent, Frame, Module, Payload, Place
from core.report.run import (
    Call,
    Counters,
    DynamoProfile,
    FilledCaches,
    Problem,
    RunError,
    Script,
    Setting,
    Source,
    VllmCall,
)

Stage = Literal[
    "dynamo_output_graph",
    "before_pre_grad_graph",
    "after_pre_grad_graph",
    "aot_joint_graph",
    "before_joint_graph",
    "after_joint_graph",
    "aot_forward_graph",
    "aot_backward_graph",
    "aot_inference_graph",
    "before_post_grad_graph",
    "inductor_post_grad_graph",
    "compiled_autograd_graph_pre_reordering",
    "compiled_autograd_graph",
    "exported_program",
    "dumped",
    "symbolic_trace",
    "export",
    "core_aten",
]
CaptureWay = Literal["symbolic_trace", "export", "core_aten"]
Language = Literal["triton", "cpp", "cuda", "metal", "extern"]
Status = Literal["ok", "empty", "failed", "not finished"]

SCHEMA = 6


@dataclass(frozen=True, slots=True)
class FxGraph:
    """A graph of a compilation at one stage. Its text and nodes stay in the log.

    `ops` counts nodes by op; `targets` counts calls by target, including those in branches and other nested graphs.
    `name` is set only if a library dumped the graph under a name, such as vLLM's `vllm_piecewise_split_graph`.
    `repeated` is set for Dynamo's graph with a line that was traced at least eight times, `cast` for one that converts
    parameters or buffers.
    """

    id: str
    stage: Stage
    direction: Direction
    attempt: int
    payload: Payload
    ops: dict[str, int]
    targets: dict[str, int] = field(default_factory=dict)
    name: str = ""
    repeated: RepeatedLine | None = None
    cast: CastWeights | None = None

    @property
    def early(self) -> bool:
        """Return True for a graph before AOTAutograd: from Dynamo, or before or after the pre-grad passes."""
        return self.stage in ("dynamo_output_graph", "before_pre_grad_graph", "after_pre_grad_graph")

    @property
    def lowered(self) -> bool:
        """Return True for the graph that Inductor lowers, after its post-grad passes."""
        return self.stage == "inductor_post_grad_graph"

    @property
    def captured(self) -> bool:
        """Return True for a graph of the model that an API other than `torch.compile` captured."""
        return self.stage in get_args(CaptureWay)

    @property
    def calls(self) -> int:
        """Return the number of nodes that compute: call_function, call_method, call_module."""
        return sum(count for op, count in self.ops.items() if op.startswith("call_"))


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture of the model by an API other than `torch.compile`, with the inputs of its first call.

    `call` is the call of the API as source text. `equal` is True if the graph gives eager's results for these
    inputs, None if the graph was not run. Without a graph, `problem` is torch's reason, and `frames` are the
    user's lines in the traceback.
    """

    way: CaptureWay
    call: str
    seconds: float
    graph: FxGraph | None = None
    equal: bool | None = None
    problem: str = ""
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A line of the wrapper that calls a kernel, counted from 1, with its measured time.

    `origins` are the FX nodes that this call computes; empty if only those of all calls together are recorded.
    """

    line: int
    time: KernelTime | None = None
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a graph's output code, extern kernels included.

    `origins` are FX nodes of the post-grad graph, `nodes` scheduler nodes, `lines` the (first, last) line of the
    kernel's source in the output code; `stacks` are the user's lines that the kernel comes from. The bytes are an upper
    bound if `at_most`; None if they were not counted by the same rule before and after fusion. `binary` is the machine
    code for a target, `tried` are the configs that autotuning timed, `tuning` is torch's choice of a config, and
    `compile_s` are Triton's seconds to compile.
    """

    id: str
    name: str
    direction: Direction
    language: Language
    extern: bool
    category: str
    graph: str
    origins: tuple[str, ...]
    nodes: tuple[str, ...]
    lines: tuple[int, int]
    calls: tuple[KernelCall, ...]
    stacks: tuple[Frame, ...]
    output_code: Payload
    bytes_read: int | None = None
    bytes_written: int | None = None
    flops: int | None = None
    at_most: bool = False
    binary: Binary | None = None
    tried: Autotuning | None = None
    compile_s: float | None = None
    tuning: KernelTuning | None = None

    @property
    def call_lines(self) -> tuple[int, ...]:
        """Return the lines of the wrapper that call the kernel."""
        return tuple(call.line for call in self.calls)


@dataclass(frozen=True, slots=True)
class Compilation:
    """A compilation of a frame: everything that torch recorded under one compile id.

    `id` is torch's, such as `0/0`. After a `torch.compiler.reset`, which restarts torch's numbers, it has a
    prefix: `2:0/0`. A compilation without a Dynamo frame has the id `export`, `-`, or `!0` (compiled autograd);
    `frame.name` is then the kind of compilation. `call` is the index of the call that compiled, None if the run
    did not record its calls.

    `status` is ok, empty (nothing to compile), failed, or not finished. If an error ended the compilation,
    `error_type` is torch's type of the error, `error_place` is the error's place in the user's code, and
    `error_text` is the log place of the traceback.

    `graph_op_count` is torch's own count of the ops that Dynamo captured. `modules` and `stacks` are for the
    graphs before the scheduler (`pre_grad`, `joint`): the `nn.Module` of each FX node, and the log place of the
    stacks of all nodes.

    `guard_latency_us` is torch's single check of the guards with a cold cache, `guard_warm_us` is the minimum of
    several checks in a row, and `guard_costs` is the cost by family of guards. `guard_leaves` is the recorded
    number of leaves in the guard tree, since the tree's text does not always separate them.

    `expressions` are expressions of symbols, which TORCH_DTRACE logs; `export_issues` are the causes of an
    unsound export. `user_contexts` are labels from hooks that the user registered with torch.

    `aot_metadata` has an entry for each graph of AOTAutograd, `estimates` for each graph that the scheduler
    scheduled, and `collectives` for each graph with collective calls. `cudagraph_skip` is torch's reason why a
    graph did not become a CUDA graph, empty if torch logged none. `pipelines` are the graphs of the backend
    `accelerator`, and `invocations` are the calls of a backend other than `inductor`.
    """

    id: str
    frame: Frame
    stack: tuple[Frame, ...]
    attempts: int
    status: Status
    error: str
    graphs: tuple[FxGraph, ...]
    guards: tuple[Guard, ...]
    guard_latency_us: float | None
    symbols: tuple[Symbol, ...]
    schedules: tuple[Schedule, ...]
    kernels: tuple[Kernel, ...]
    restart_reasons: tuple[str, ...] = ()
    modules: dict[str, dict[str, Module]] = field(default_factory=dict)
    stacks: dict[str, Payload] = field(default_factory=dict)
    passes: tuple[GraphPass, ...] = ()
    unchanged_passes: tuple[UnchangedPasses, ...] = ()
    partitions: tuple[Partition, ...] = ()
    wrapper_times: tuple[WrapperTime, ...] = ()
    target_choices: tuple[TargetChoice, ...] = ()
    error_text: Payload | None = None
    error_type: str = ""
    error_place: Place | None = None
    graph_op_count: int | None = None
    guard_warm_us: float | None = None
    guard_leaves: int | None = None
    guard_costs: GuardCosts | None = None
    symbol_guards: tuple[SymbolGuard, ...] = ()
    specializations: tuple[Specialization, ...] = ()
    expressions: tuple[Expression, ...] = ()
    export_issues: tuple[ExportIssue, ...] = ()
    call: int | None = None
    bytecode: Bytecode | None = None
    cudagraph_skip: str = ""
    pipelines: tuple[Pipeline, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    aot_metadata: tuple[AotMetadata, ...] = ()
    estimates: tuple[Estimates, ...] = ()
    collectives: tuple[Collectives, ...] = ()
    user_contexts: tuple[str, ...] = ()
    traced: DynamoProfile | None = None

    def graph(self, graph_id: str) -> FxGraph | None:
        """Return the graph with that id; None if this compilation has none."""
        return next((graph for graph in self.graphs if graph.id == graph_id), None)

    @property
    def last_graphs(self) -> tuple[FxGraph, ...]:
        """Return the graphs of the last attempt; a restart discards the graphs of the attempts before it."""
        return tuple(graph for graph in self.graphs if graph.attempt == self.attempts - 1)

    @property
    def has_frame(self) -> bool:
        """Return True if Dynamo compiled a frame.

        False for an export, a package, or compiled autograd's capture.
        """
        return "/" in self.id

    @property
    def is_capture(self) -> bool:
        """Return True if this is compiled autograd's capture of a backward graph."""
        return "!" in self.id and not self.has_frame

    @property
    def lowered_graphs(self) -> tuple[FxGraph, ...]:
        """Return the graphs that Inductor lowered."""
        return tuple(graph for graph in self.last_graphs if graph.lowered)

    def lowered(self, direction: Direction) -> FxGraph | None:
        """Return the lowered graph of that direction; None if this compilation has none."""
        return next((graph for graph in self.lowered_graphs if graph.direction == direction), None)


@dataclass(frozen=True, slots=True)
class Phase:
    """A span of compile time, from torch's chromium events. `end_us` is None if it never ended.

    `depth` counts the enclosing spans. The spans of `thread` 0 are nested; another thread runs in parallel and gets its
    own row below the span that started it.
    """

    name: str
    compilation: str
    start_us: float
    end_us: float | None
    depth: int
    thread: int = 0

    @property
    def duration_s(self) -> float | None:
        """Return the duration in seconds; None if the span never ended."""
        return None if self.end_us is None else (self.end_us - self.start_us) / 1e6


# Debug files that are in a log only if the job asks for them.
DEBUG_FILES = ("fx_graph_readable.py", "fx_graph_transformed.py", "ir_pre_fusion.txt", "ir_post_fusion.txt")


@dataclass(frozen=True, slots=True)
class DebugFile:
    """A file of torch's debug directory of a graph, from torch's trace or requested by a job.

    `graph` is the index of the graph among the graphs that Inductor compiled, in log order.
    """

    compilation: str
    graph: int
    name: str
    text: Payload


MetricsKind = Literal["compilation", "backward", "run time", "backward at run time"]


@dataclass(frozen=True, slots=True)
class MetricsRecord:
    """A record of torch's metrics, and the place of its header line in the log.

    The metrics are of a compilation, or of work at the first run of its code (the kinds with `run time`).
    """

    compilation: str
    kind: MetricsKind
    line: Payload


@dataclass(frozen=True, slots=True)
class GraphRuns:
    """Consecutive executions of one compilation's code, from torch's record of the execution order."""

    compilation: str
    count: int


@dataclass(frozen=True, slots=True)
class ConfigText:
    """The JSON that torch logged of a config module, such as `torch._functorch.config`."""

    compilation: str
    name: str
    text: Payload


@dataclass(frozen=True, slots=True)
class LogText:
    """Messages of torch's log in one record, as TORCH_LOGS prints them.

    `messages` counts them by artifact or logger.
    """

    compilation: str
    messages: dict[str, int]
    text: Payload


@dataclass(frozen=True, slots=True)
class Report:
    """All facts about one run or one log.

    `break_record` says how much the log has of its graph breaks: all of them, only some, or none. `records_lost` is
    True if the run's code stopped torch's records. `notes` are sentences about how the job was run. `script` is the end
    of a script that was run as it is. `memory` is the memory use of one eager and one compiled call, if the job asks
    for it.

    `autotuned` are the timed alternatives for ops, and for kernels that are in no output code. `untimed` is why the
    kernels could not be timed. `back_to_back_s` are seconds per compiled call, calls back to back, while kernels were
    timed; `kernel_load` is the machine's other load during that time.

    `crossings` are the calls of the accelerator's programs. `executions` are the first executions of other backends'
    callables, and `ran` the total numbers. `told_tables` and `told_texts` are tables and texts that backends logged.

    The fields from `exports` to `package_texts` are AOTInductor's, if the job asks for it. On request, `neighbours` are
    the results of other compilers and runtimes, `logs` messages of torch's log, `captures` other captures of the model,
    and `explained` is torch's own summary.

    `debug_files` are the files of torch's debug directories. `metrics` and `configs` are the places of torch's metrics
    and config records in the log. `graph_runs` is the order in which compiled code was executed. `vllm` are the calls
    of vLLM's backend.
    """

    setting: Setting
    compilations: tuple[Compilation, ...] = ()
    graph_breaks: tuple[GraphBreak, ...] = ()
    break_record: BreakRecord = "complete"
    records_lost: bool = False
    recompiles: tuple[Recompile, ...] = ()
    phases: tuple[Phase, ...] = ()
    caches: tuple[CacheEvent, ...] = ()
    sources: tuple[Source, ...] = ()
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    timing: SideTimes | None = None
    rival: Alternative | None = None
    bisection: Bisection | None = None
    bits: BitComparison | None = None
    roofline: Roofline | None = None
    memory: tuple[MemoryUse, ...] = ()
    autotuned: tuple[Autotuning, ...] = ()
    untimed: str = ""
    back_to_back_s: tuple[float, ...] = ()
    kernel_load: Load | None = None
    call_numerics: tuple[CallNumerics, ...] = ()
    graph_numerics: tuple[GraphNumerics, ...] = ()
    counters: Counters | None = None
    filled_caches: FilledCaches | None = None
    script: Script | None = None
    error: RunError | None = None
    kinds: dict[str, int] = field(default_factory=dict)
    unparsed: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    executions: tuple[Execution, ...] = ()
    ran: tuple[Executions, ...] = ()
    told_tables: tuple[AnnotationTable, ...] = ()
    told_texts: tuple[AnnotationText, ...] = ()
    exports: tuple[Export, ...] = ()
    range_trials: tuple[RangeTrial, ...] = ()
    packages: tuple[Package, ...] = ()
    package_runs: tuple[PackageRun, ...] = ()
    package_times: tuple[PackageTimes, ...] = ()
    package_texts: tuple[PackageText, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    debug_files: tuple[DebugFile, ...] = ()
    logs: tuple[LogText, ...] = ()
    captures: tuple[Capture, ...] = ()
    metrics: tuple[MetricsRecord, ...] = ()
    configs: tuple[ConfigText, ...] = ()
    graph_runs: tuple[GraphRuns, ...] = ()
    explained: Explanation | None = None
    vllm: tuple[VllmCall, ...] = ()
    log_bytes: int = 0
    schema: int = SCHEMA

    def compilation(self, compile_id: str) -> Compilation | None:
        """Return the compilation with that id; None if the report has none."""
        return next((compilation for compilation in self.compilations if compilation.id == compile_id), None)

    def debug_file(self, compile_id: str, place: int, name: str) -> Payload | None:
        """Return a debug file of one graph of a compilation; None if the file was not recorded.

        `place` is the index of the graph among the compilation's graphs with debug files.
        """
        files = [file for file in self.debug_files if file.compilation == compile_id]
        graph = list(dict.fromkeys(file.graph for file in files))[place : place + 1]
        return next((file.text for file in files if file.graph in graph and file.name == name), None)

    def phases_of(self, compile_id: str) -> list[tuple[int, Phase]]:
        """Return the phases of one compilation, each with its index in `phases`."""
        return [(index, phase) for index, phase in enumerate(self.phases) if phase.compilation == compile_id]


def to_json(report: Report, indent: int = 0) -> bytes:
    """Return the report as JSON; numbers that JSON lacks (inf, nan) become null."""
    data = msgspec.json.encode(report)
    return msgspec.json.format(data, indent=indent) if indent else data


def from_json(data: bytes) -> Report:
    """Read a report; raises ReportError for another schema version than this and 5, or a damaged file."""
    try:
        report = decoded_as(data, Report)
        if report.schema == 5:
            report = converted({**report_with_sides(decoded(data)), "schema": SCHEMA}, Report)
    except DecodeError as error:
        raise ReportError(f"the stored report cannot be read: {error}") from None
    if report.schema != SCHEMA:
        raise ReportError(f"the report has schema {report.schema}; this version reads {SCHEMA}")
    return report


def as_json(value: Any) -> bytes:
    """Return any part of a report, or a list of parts, as readable JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
