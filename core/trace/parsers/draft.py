"""Draft of a report: parsers add to it while a log is read, and `build` turns it into a Report.

Values that the report stores unchanged are accessed by their type. Stacks are stored without the worker's
frames.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from core.base.decoder import converted, counted
from core.report import (
    Binary,
    Bytecode,
    CacheEvent,
    Compilation,
    DebugFile,
    ExportIssue,
    Expression,
    Frame,
    FxGraph,
    GraphBreak,
    GraphPass,
    Guard,
    GuardCosts,
    Kernel,
    KernelTime,
    Load,
    Module,
    Partition,
    Payload,
    Phase,
    PiecewiseArtifact,
    PiecewiseCompilation,
    PiecewiseGraph,
    Place,
    Report,
    Schedule,
    Specialization,
    Stage,
    Symbol,
    SymbolGuard,
    UnchangedPasses,
)
from core.report.measurements import with_sides
from core.report.nodes import Direction
from core.report.records import SCHEMA, Record
from core.report.records.compilation import KernelRecord
from core.trace.reader import TraceReader, TraceRecord

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


MAX_ITEMS = 100_000  #: limit: entries of one list in a report
T = TypeVar("T")
Passes = TypeVar("Passes", GraphPass, UnchangedPasses)
MAX_STACK = 200  #: limit: frames of a stack
# The id of a compilation whose records have no compile id, such as an AOTInductor package.
WITHOUT_ID = "-"
# The entry point of a worker, in local runs and in recordings from other machines.
STARTED = re.compile(r"^(.*/)?core/worker/__main__\.py$")


@cache
def fields_of(owner: type) -> dict[type, tuple[str, bool]]:
    """Return type → field name, and True if the field is a list: `{Call: ("calls", True), …}`.

    Only fields with a dataclass type are included.
    """
    fields = {}
    for name, hint in get_type_hints(owner).items():
        is_list = get_origin(hint) is tuple
        kind = get_args(hint)[0] if is_list or isinstance(hint, UnionType) else hint
        if hasattr(kind, "__dataclass_fields__"):
            fields[kind] = (name, is_list)
    return fields


class Values:
    """Values of an owner's fields, such as the fields of a Report.

    A list field has all values in order. Another field has the last value of its type.
    """

    def __init__(self, owner: type) -> None:
        self._fields = fields_of(owner)
        self._values: dict[str, Any] = {}

    def add(self, value: object) -> None:
        """Add a value; raises KeyError if no field has its type, OverflowError if a list is full."""
        name, is_list = self._fields[type(value)]
        if not is_list:
            self._values[name] = value
            return
        values = self._values.setdefault(name, [])
        if len(values) >= MAX_ITEMS:
            raise OverflowError(f"more than {MAX_ITEMS} of one kind")
        values.append(value)

    def last(self, kind: type[T]) -> T | None:
        """Return the newest value of a type, None if there is none."""
        name, is_list = self._fields[kind]
        values = self._values.get(name)
        value: T | None = values[-1] if values and is_list else values
        return value

    def fields(self) -> dict[str, Any]:
        """Return field → its value or values; fields without values are left out."""
        return {name: tuple(value) if isinstance(value, list) else value for name, value in self._values.items()}


@dataclass(frozen=True, slots=True)
class OutputCode:
    """The position of a generated module: its compilation, and the byte offset of its text in the log."""

    compilation: str
    offset: int
    direction: Direction


@dataclass(slots=True)
class CompilationDraft:
    """A compilation so far.

    `apart` has the kernels whose scheduler nodes were found by their arguments. `times` are by output code and line,
    `binaries` by the kernel's name and direction. For a compilation without a frame, `exported` is True if torch.export
    traced it, and `packaged` is True if AOTInductor wrote its code.
    """

    id: str
    frame: Frame = field(default_factory=lambda: Frame("", 0, ""))
    stack: tuple[Frame, ...] = ()
    attempts: int = 1
    graphs: list[FxGraph] = field(default_factory=list)
    undirected: list[int] = field(default_factory=list)
    guards: tuple[Guard, ...] = ()
    error_text: Payload | None = None
    guard_text: Payload | None = None
    guard_latency_us: float | None = None
    guard_warm_us: float | None = None
    guard_leaves: int | None = None
    guard_costs: GuardCosts | None = None
    call: int | None = None
    symbols: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    symbol_guards: dict[tuple[str, str], SymbolGuard] = field(default_factory=dict)
    specializations: dict[tuple[str, str], Specialization] = field(default_factory=dict)
    expressions: dict[tuple[str, Frame | None], Expression] = field(default_factory=dict)
    export_issues: dict[tuple[str, str, str], ExportIssue] = field(default_factory=dict)
    symbols_attempt: int = 0
    bytecode: Bytecode | None = None
    schedules: list[Schedule] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    kernel_notes: list[KernelRecord] = field(default_factory=list)
    newest_kernels: int = 0
    apart: set[str] = field(default_factory=set)
    times: dict[tuple[int, int], KernelTime] = field(default_factory=dict)
    binaries: dict[tuple[str, Direction], Binary] = field(default_factory=dict)
    handles: dict[str, tuple[int, ...]] = field(default_factory=dict)
    finished: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    ended_us: float = 0.0
    exported: bool = False
    packaged: bool = False
    metrics: dict[str, Any] = field(default_factory=dict)
    restart_reasons: tuple[str, ...] = ()
    modules: dict[str, dict[str, Module]] = field(default_factory=dict)
    stacks: dict[str, Payload] = field(default_factory=dict)
    passes: list[tuple[int, GraphPass | UnchangedPasses]] = field(default_factory=list)
    partitions: list[Partition] = field(default_factory=list)
    values: Values = field(default_factory=lambda: Values(Compilation))

    def add_passes(self, passes: GraphPass | UnchangedPasses) -> None:
        """Add passes with the index of their graph, since the graph's id may still change.

        Passes belong to the graph that was logged last. Passes of the stage `before_post_grad` belong to the graph
        that is logged next.
        """
        self.passes.append((len(self.graphs) - (passes.stage != "before_post_grad"), passes))

    def passes_of(self, kind: type[Passes]) -> tuple[Passes, ...]:
        """Return all passes of one kind, each with the id of its graph."""
        return tuple(
            replace(passes, graph=self.graphs[index].id if 0 <= index < len(self.graphs) else "")
            for index, passes in self.passes
            if isinstance(passes, kind)
        )

    def direct(self, direction: Direction) -> None:
        """Set the direction, forward or backward, of the graphs logged after the last output code."""
        for index in self.undirected:
            graph = self.graphs[index]
            self.graphs[index] = replace(graph, direction=direction, id=self.fresh_id(graph.stage, direction))
        self.undirected.clear()

    def fresh_id(self, stage: Stage, direction: Direction) -> str:
        """Return an unused graph id: the stage and direction, with a number if that id is taken."""
        return self.free_id(f"{stage}.{direction}" if direction and direction not in stage else stage)

    def free_id(self, base: str) -> str:
        """Return an unused graph id: the base, with a number if the base is taken."""
        ids = {graph.id for graph in self.graphs if graph.id == base or graph.id.startswith(f"{base}.")}
        numbered = (f"{base}.{number}" for number in range(len(ids) + 1, 2 * len(ids) + 2))
        return base if not ids else next(name for name in numbered if name not in ids)


@dataclass(slots=True)
class PieceDraft:
    """A piecewise compilation of vLLM so far; `begun` and `last` are times of log lines."""

    start: PiecewiseCompilation
    begun: str
    last: str = ""
    caches: dict[str, str] = field(default_factory=dict)
    artifacts: list[PiecewiseArtifact] = field(default_factory=list)


@dataclass(slots=True)
class VllmCallDraft:
    """A call of vLLM's backend so far; `graphs` are by name."""

    event: str = ""
    config: dict[str, str] = field(default_factory=dict)
    compile_id: str = ""
    split: Payload | None = None
    graphs: dict[str, PiecewiseGraph] = field(default_factory=dict)
    pieces: list[PieceDraft] = field(default_factory=list)


@dataclass(slots=True)
class ReportDraft:
    """The data read so far, and the reader for payloads.

    `writes_breaks` is True if the log is of a torch version that logs each graph break.
    """

    reader: TraceReader
    compilations: dict[str, CompilationDraft] = field(default_factory=dict)
    graph_breaks: dict[tuple[Place, str], GraphBreak] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    open_phases: list[int] = field(default_factory=list)
    open_beside: list[int] = field(default_factory=list)
    caches: list[CacheEvent] = field(default_factory=list)
    cache_places: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    cache_inputs: dict[tuple[str, str], list[Payload]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    untimed: str = ""
    back_to_back_s: tuple[float, ...] = ()
    kernel_load: Load | None = None
    output_codes: dict[str, OutputCode] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    unparsed: Counter[str] = field(default_factory=Counter)
    without_id: Counter[str] = field(default_factory=Counter)
    debug_names: set[str] = field(default_factory=set)
    lost: bool = False
    keys: dict[str, str] = field(default_factory=dict)
    vllm: list[VllmCallDraft] = field(default_factory=list)
    values: Values = field(default_factory=lambda: Values(Report))
    resets: int = 0
    writes_breaks: bool = False

    def begin(self, compile_id: str) -> None:
        """Begin a compilation; count a `torch.compiler.reset` if a finished compilation has the same id."""
        before = self.compilations.get(self.unique_id(compile_id))
        self.resets += before is not None and before.finished

    def add_cache(self, event: CacheEvent) -> None:
        """Add an outcome of a cache lookup; outcomes beyond `MAX_ITEMS` are left out."""
        if len(self.caches) < MAX_ITEMS:
            inputs = self.cache_inputs.get((event.cache, event.compilation))
            self.cache_places.setdefault(event.identity, len(self.caches))
            self.caches.append(replace(event, inputs=inputs.pop(0)) if inputs and event.key else event)

    def complete_cache(self, event: CacheEvent) -> None:
        """Add the details of a known outcome, or an outcome that is not known yet."""
        known = self.cache_places.get(event.identity)
        if known is None:
            self.add_cache(event)
        elif event.details is not None:
            self.caches[known] = replace(self.caches[known], details=event.details)

    def unique_id(self, compile_id: str) -> str:
        """Return a compile id's unique form in the log: `2:0/0` is `0/0` after the first reset."""
        return f"{self.resets + 1}:{compile_id}" if self.resets and compile_id else compile_id

    def id_of(self, key: str) -> str:
        """Return the id of the compilation with this key; the key itself if no record has it."""
        return self.keys.get(key, key)

    def compilation(self, record: TraceRecord) -> CompilationDraft:
        """Return a record's compilation; create it at its first record."""
        draft = self.compilations.get(record.compile_id)
        if draft is None:
            named = CompilationDraft(record.compile_id or self._free_root(WITHOUT_ID))
            draft = self.compilations[record.compile_id] = named
        if not record.compile_id:
            self.without_id[record.kind] += 1
        draft.attempts = max(draft.attempts, record.attempt + 1)
        return draft

    def begin_root(self) -> None:
        """If the current compilation was lowered, let the next record without an id begin a new one."""
        last = self.compilations.get("")
        if last is not None and any(graph.lowered for graph in last.graphs):
            self.close_root(last.id)

    def close_root(self, name: str) -> None:
        """Name the compilation that has no id, and end it; the next record without an id begins a new one."""
        ended = self.compilations.pop("")
        ended.id = self._free_root(name)
        self.compilations[ended.id] = ended

    def _free_root(self, name: str) -> str:
        taken = sum(1 for key in self.compilations if key == name or key.startswith(f"{name}."))
        return f"{name}.{taken + 1}" if taken else name

    def unplaced(self, record: TraceRecord) -> None:
        """Count a record that was read but has no place in the report."""
        self.unparsed[record.kind] += 1

    def keep(self, record: TraceRecord, value: object) -> None:
        """Add a value to the record's compilation if it has a field for the type, otherwise to the report."""
        inside = type(value) in fields_of(Compilation)
        owner = self.compilation(record) if inside else self
        owner.values.add(value)

    def keep_debug_file(self, record: TraceRecord, name: str) -> None:
        """Add a file to the newest graph's debug directory; a repeated name begins the next graph's directory."""
        last, compilation = self.values.last(DebugFile), self.compilation(record).id
        if last is not None and (last.compilation != compilation or name in self.debug_names):
            self.debug_names.clear()
        graph = 0 if last is None else last.graph + (not self.debug_names)
        self.debug_names.add(name)
        self.keep(record, DebugFile(compilation, graph, name, self.payload(record)))

    def text(self, record: TraceRecord) -> str:
        """Return a record's payload, checked against its md5."""
        self.reader.check(record)
        return self.reader.text(record.offset, record.length)

    def problem(self, what: str, offset: int) -> None:
        """Count something that could not be read."""
        self.reader.problem(what, offset)

    def payload(self, record: TraceRecord) -> Payload:
        """Return the position of a record's payload."""
        return Payload(record.offset, record.length)

    def header(self, record: TraceRecord) -> Payload:
        """Return the position of a record's header line."""
        return Payload(record.header_offset, record.offset - record.header_offset)

    def frames(self, stack: Any) -> tuple[Frame, ...]:
        """Return the frames of a stack in torch's log, without the worker's frames; empty if it is no list.

        Torch logs a stack as a list of {line, name, filename, loc}.
        """
        if not isinstance(stack, list):
            return ()
        return without_worker([self._frame(fields) for fields in stack[:MAX_STACK] if isinstance(fields, dict)])

    def _frame(self, fields: dict[str, Any]) -> Frame:
        return Frame(
            file=self.reader.file_name(fields.get("filename", "")),
            line=counted(fields.get("line")) or 0,
            name=str(fields.get("name", "")),
            text=str(fields.get("loc") or ""),
        )


def without_worker(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return the frames after the worker's own frames, outermost first; at least the stack's last frame."""
    started = next((match for frame in stack if (match := STARTED.match(frame.file))), None)
    if started is None:
        return tuple(stack)
    worker_folder = f"{started[1] or ''}core/worker/"
    last = max(index for index, frame in enumerate(stack) if frame.file.startswith(worker_folder))
    return tuple(stack[last + 1 :] or stack[-1:])


Emitted = TypeVar("Emitted", bound=Record)
Value = TypeVar("Value", bound="DataclassInstance")


def typed_parser(
    kind: type[Emitted], parse: Callable[[ReportDraft, TraceRecord, Emitted], None]
) -> Callable[[ReportDraft, TraceRecord], None]:
    """Return a parser that calls `parse` with the record as the type `kind`.

    Records with another schema or field type are counted and skipped.
    """

    def parse_record(draft: ReportDraft, record: TraceRecord) -> None:
        data = draft.reader.json(record)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            draft.problem("record of another Compileboard version", record.offset)
            return
        parse(draft, record, converted(with_sides(data, kind), kind))

    return parse_record


def keep(draft: ReportDraft, record: TraceRecord, value: Record) -> None:
    """Add a value that the report stores unchanged."""
    draft.keep(record, value)


def report_value(kind: type[Value], record: Any, /, **extra: Any) -> Value:
    """Return a report value from the fields that it shares by name with a record, and from `extra`."""
    shared = {field.name: getattr(record, field.name) for field in fields(kind) if hasattr(record, field.name)}
    return kind(**{**shared, **extra})
