"""Builders of a Report from a whole log, and of the outline of a large log.

In a log that is still being written, each record is read once, however often the report is shown. The outline
uses only the index and small records, so it is ready before the whole log is read. Single payloads are read
on request.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from core.base.decoder import counted
from core.base.errors import TraceError
from core.base.syntax import NOT_READ
from core.report import (
    NO_REASON,
    Autotuning,
    BreakRecord,
    Compilation,
    FxGraph,
    FxNode,
    GraphBreak,
    GraphPass,
    Module,
    Payload,
    Phase,
    Place,
    Problem,
    Recompile,
    Report,
    Setting,
    Stage,
    Status,
    UnchangedPasses,
    frame_id,
)
from core.report.nodes import Direction
from core.trace.index import IndexRow, TraceIndex
from core.trace.parsers.draft import MAX_ITEMS, CompilationDraft, ReportDraft, report_value
from core.trace.parsers.dynamo import SKIP_REASON
from core.trace.parsers.events import measured_phases
from core.trace.parsers.fx_text import parse_graph, with_stacks
from core.trace.parsers.inductor import FIRST, GRAPH_STAGES, dumped_graph, is_dumped_graph, join_kernels
from core.trace.parsers.restarts import RESUMES, breaks_of_restarts
from core.trace.parsers.table import is_root, parser_of, root_frame
from core.trace.parsers.vllm import add_to_piece, vllm_calls
from core.trace.reader import MOST_AT_ONCE_BYTES, AppendedReader, GrowingReader, TraceReader, TraceRecord, text_at

MAX_KINDS = 2_000  #: kinds of records that are distinguished
MOST_CONTEXTS = 16  #: labels of a recompile
MOST_CONTEXT_CHARS = 256  #: a label of a recompile
OURS = "artifact:compileboard_"
# Inductor's classes of calls that change their first argument.
IN_PLACE = re.compile(r"^(?:Inplace)?(Scatter|IndexPut|Bernoulli|Copy)Fallback$")
LOOK_S = 0.2
LONGEST_LOOK_S = 0.5  #: seconds of reading a growing log before the page shows a part
# Records of metrics, with the name of the phase whose start and duration they have.
METRICS = {"compilation_metrics": "entire_frame_compile", "bwd_compilation_metrics": "entire_backward_compile"}
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
# The first version of torch that logs each graph break.
LOGS_BREAKS = (2, 6)
# Small records, which say what was compiled, why, and for how long.
OUTLINED = (
    *METRICS,
    "dynamo_start",
    "artifact:compileboard_step",
    "artifact:dynamo_graph_break_reason",
    "artifact:dynamo_error",
    "artifact:recompile_reasons",
    "artifact:torch_version",
    "exported_program",
)


def build_report(path: Path, strict: bool = False) -> Report:
    """Return the report of one log; raises TraceError if the file cannot be opened.

    A record that its parser cannot read is counted and skipped; with `strict`, the parser's exception is raised.
    """
    with TraceReader(path) as reader:
        draft = ReportDraft(reader)
        for record in reader.records():
            read_record(draft, record, strict)
        return draft_report(draft)


def build_in_parts(index: TraceIndex, finish: Callable[[Compilation], Compilation]) -> Report:
    """Return the report of a large log, with `finish` applied to each compilation; raises TraceError.

    A compilation is finished after its last record; then only the result of `finish` remains in memory.
    """
    # Measurements of a run of ours come after the compilations that they belong to.
    last = set() if any(kind.startswith(OURS) for kind in index.counts()) else index.last_numbers()
    finished: dict[str, Compilation] = {}
    with TraceReader(index.path) as reader:
        draft = ReportDraft(reader)
        for number, record in enumerate(reader.records()):
            read_record(draft, record)
            if number in last and record.compile_id:
                _finish(draft, draft.unique_id(record.compile_id), finish, finished)
        report = draft_report(draft)
    compilations = (
        _with_later(finished[compilation.id], compilation) if compilation.id in finished else finish(compilation)
        for compilation in report.compilations
    )
    return replace(report, compilations=tuple(compilations))


def _with_later(finished: Compilation, later: Compilation) -> Compilation:
    """Return a finished compilation with the frame, stack and final status from later records."""
    status = later.status if finished.status == "not finished" else finished.status
    return replace(finished, frame=later.frame, stack=later.stack, status=status)


def _finish(
    draft: ReportDraft,
    compile_id: str,
    finish: Callable[[Compilation], Compilation],
    finished: dict[str, Compilation],
) -> None:
    """Finish a compilation; its draft keeps only the data that later records and compilations need."""
    whole = draft.compilations.get(compile_id)
    if whole is not None:
        finished[whole.id] = finish(_compilation(whole, {}))
        draft.compilations[compile_id] = CompilationDraft(
            whole.id,
            whole.frame,
            whole.stack,
            graphs=whole.graphs[:1],
            finished=whole.finished,
            seconds=whole.seconds,
            ended_us=whole.ended_us,
            restart_reasons=whole.restart_reasons,
        )


def read_record(draft: ReportDraft, record: TraceRecord, strict: bool = False) -> None:
    """Read one record into a draft."""
    kind = record.kind if len(draft.kinds) < MAX_KINDS else "other kinds"
    draft.kinds[kind] += 1
    if record.kind == "dynamo_start" and not record.attempt:
        draft.begin(record.compile_id)
    if draft.resets and record.compile_id:
        record = replace(record, compile_id=draft.unique_id(record.compile_id))
    parse = parser_of(record.kind) or (dumped_graph if is_dumped_graph(draft, record) else None)
    if parse is None:
        draft.unparsed[kind] += 1
    try:
        add_to_piece(draft, record)
        if parse is not None:
            parse(draft, record)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        if strict:
            raise
        draft.problem(f"unreadable {record.kind}", record.header_offset)


def draft_report(draft: ReportDraft) -> Report:
    """Return the report of all records read so far; more records can be added to the draft later."""
    reader = draft.reader
    values = {"setting": Setting(), **draft.values.fields()}
    autotuned: tuple[Autotuning, ...] = values.pop("autotuned", ())
    tried = {tuning.name: tuning for tuning in reversed(autotuned) if tuning.kind == "configs"}
    drafts = _with_frames(draft)
    if draft.notes and not (draft.kinds["dynamo_start"] or draft.kinds["compilation_metrics"]):
        # In a log made from a dump of graphs, no record says which compilation did not finish.
        for compilation in drafts:
            compilation.finished |= bool(compilation.graphs or compilation.kernels)
    graph_breaks, break_record = _graph_breaks(draft, drafts)
    values["recompiles"] = values.get("recompiles") or _later_compilations(draft, drafts)
    compilations = tuple(_compilation(compilation, tried) for compilation in drafts)
    placed = any(not compilation.has_frame and not compilation.is_capture for compilation in compilations)
    of_kernels = {kernel.tried for compilation in compilations for kernel in compilation.kernels}
    return Report(
        **values,
        compilations=compilations,
        autotuned=tuple(tuning for tuning in autotuned if tuning not in of_kernels),
        graph_breaks=graph_breaks,
        break_record=break_record,
        records_lost=draft.lost,
        phases=tuple(draft.phases) or measured_phases(drafts),
        caches=tuple(draft.caches),
        steps=tuple(draft.steps),
        notes=tuple(draft.notes),
        untimed=draft.untimed,
        back_to_back_s=draft.back_to_back_s,
        kernel_load=draft.kernel_load,
        vllm=vllm_calls(draft.vllm),
        kinds=dict(draft.kinds),
        unparsed=_count_unparsed(draft, placed),
        problems=tuple(Problem(what, count, reader.first_problem[what]) for what, count in reader.problems.items()),
        log_bytes=reader.size,
    )


def _graph_breaks(draft: ReportDraft, drafts: Sequence[CompilationDraft]) -> tuple[tuple[GraphBreak, ...], BreakRecord]:
    """Return the graph breaks, and how much of them the log records.

    Logs of torch before 2.6 have no record of a break.
    """
    frames = [compilation for compilation in drafts if "/" in compilation.id]
    if draft.lost:
        return tuple(draft.graph_breaks.values()), "lower bound" if draft.graph_breaks else "none"
    if draft.graph_breaks or not frames:
        return tuple(draft.graph_breaks.values()), "complete"
    resumes = any(compilation.frame.name.startswith(RESUMES) for compilation in frames)
    if _writes_breaks(draft) and not resumes:
        return (), "complete"
    graph_breaks = breaks_of_restarts(frames)
    return graph_breaks, "lower bound" if graph_breaks else "none"


def _writes_breaks(draft: ReportDraft) -> bool:
    setting = draft.values.last(Setting)
    version = VERSION.match(setting.torch) if setting else None
    return draft.writes_breaks or (version is not None and (int(version[1]), int(version[2])) >= LOGS_BREAKS)


def _later_compilations(draft: ReportDraft, drafts: Iterable[CompilationDraft]) -> tuple[Recompile, ...]:
    """Return the later compilations of frames as recompiles, for a log without recompile reasons.

    torch before 2.5 logs none. The number after the slash of a compile id counts the compilations of the frame.
    """
    if draft.kinds["artifact:recompile_reasons"]:
        return ()
    ids = (compilation.id for compilation in drafts if "/" in compilation.id and compilation.id[:1] != "!")
    return tuple(Recompile(name, "", NO_REASON) for name in ids if name.rpartition("/")[2].strip("0"))


def _count_unparsed(draft: ReportDraft, placed: bool) -> dict[str, int]:
    """Return kind → number of records without a place in the report.

    Records without a compile id are counted, too, unless a compilation contains them.
    """
    counts = draft.unparsed if placed else draft.unparsed + draft.without_id
    return {kind: min(count, draft.kinds[kind]) for kind, count in counts.items() if draft.kinds[kind]}


def _with_frames(draft: ReportDraft) -> list[CompilationDraft]:
    """Return the compilations, each with its frame.

    A compilation without a logged frame gets the frame of another compilation of the same function. Work outside
    Dynamo counts as a compilation if it has graphs or kernels, or is an export; the frame's name is then the kind
    of compilation.
    """
    drafts = [
        compilation for compilation in draft.compilations.values() if "/" in compilation.id or is_root(compilation)
    ]
    frames = {frame_id(compilation.id): compilation for compilation in reversed(drafts) if compilation.frame.name}
    for compilation in drafts:
        sibling = frames.get(frame_id(compilation.id))
        if not compilation.frame.name and "/" not in compilation.id:
            compilation.frame = root_frame(draft, compilation)
        elif not compilation.frame.name and sibling is not None:
            compilation.frame, compilation.stack = sibling.frame, sibling.stack
    return drafts


def _claim_calls(draft: CompilationDraft) -> None:
    """Give library calls without scheduler nodes the nodes of their class that have no kernel.

    Torch's provenance tracking leaves out calls in place: `aten.scatter_reduce_.two` is that of a `ScatterFallback`.
    Calls and nodes of a class are in one order; if there are not as many of both, none is claimed.
    """
    taken = {(kernel.direction, node) for kernel in draft.kernels for node in kernel.nodes}
    calls = [
        (index, kernel.direction, kernel.name.split(".")[1].replace("_", ""))
        for index, kernel in enumerate(draft.kernels)
        if kernel.extern and not kernel.nodes and kernel.name.startswith("aten.")
    ]
    nodes: dict[tuple[Direction, str], list[str]] = {}
    for schedule in draft.schedules if calls else ():
        for node in schedule.before:
            if IN_PLACE.match("".join(node.ops)) and (schedule.direction, node.name) not in taken:
                op = IN_PLACE.sub(r"\1", node.ops[0]).lower()
                nodes.setdefault((schedule.direction, op), []).append(node.name)
    for (direction, op), names in nodes.items():
        own = [index for index, of, called in calls if of == direction and called.startswith(op)]
        for index, name in zip(own, names, strict=True) if len(own) == len(names) else ():
            draft.kernels[index] = replace(draft.kernels[index], nodes=(name,))


def _compilation(draft: CompilationDraft, tried: Mapping[str, Autotuning]) -> Compilation:
    _claim_calls(draft)
    schedules, kernels = join_kernels(draft, tried)
    return report_value(
        Compilation,
        draft,
        **draft.values.fields(),
        status=_status(draft),
        error=str(draft.metrics.get("fail_reason") or ""),
        error_type=str(draft.metrics.get("fail_type") or ""),
        error_place=_error_place(draft.metrics),
        cudagraph_skip=str(draft.metrics.get(SKIP_REASON) or ""),
        graph_op_count=counted(draft.metrics.get("graph_op_count")),
        user_contexts=_user_contexts(draft.metrics),
        graphs=tuple(draft.graphs),
        symbols=tuple(draft.symbols.values()),
        symbol_guards=tuple(draft.symbol_guards.values()),
        specializations=tuple(draft.specializations.values()),
        expressions=tuple(draft.expressions.values()),
        export_issues=tuple(draft.export_issues.values()),
        schedules=schedules,
        kernels=kernels,
        passes=draft.passes_of(GraphPass),
        unchanged_passes=draft.passes_of(UnchangedPasses),
        partitions=tuple(draft.partitions),
    )


def _user_contexts(metrics: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the user contexts that torch logs for a recompile, sorted; each is cut at 256 characters."""
    contexts = metrics.get("recompile_user_contexts")
    texts = (
        (text[:MOST_CONTEXT_CHARS] for text in contexts if isinstance(text, str)) if isinstance(contexts, list) else ()
    )
    return tuple(sorted(filter(None, texts)))[:MOST_CONTEXTS]


def _error_place(metrics: Mapping[str, Any]) -> Place | None:
    file, line = metrics.get("fail_user_frame_filename"), counted(metrics.get("fail_user_frame_lineno"))
    return Place(str(file), line) if file and line is not None else None


def _status(draft: CompilationDraft) -> Status:
    if draft.metrics.get("fail_type"):
        return "failed"
    if not draft.finished and "/" in draft.id:
        return "not finished"
    return "ok" if draft.graphs else "empty"


def load_text(path: Path, payload: Payload) -> str:
    """Return a payload's text; raises TraceError if the log is gone."""
    return text_at(path, payload.offset, payload.length)


def load_graph(path: Path, compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
    """Return the nodes of a graph; empty if its text cannot be parsed.

    The nodes have their modules and stacks if the run recorded them. Raises TraceError if the log is gone.
    """
    stage = "pre_grad" if graph.early else "joint"
    modules = {} if graph.captured else _modules_of(compilation, graph, stage)
    try:
        nodes = parse_graph(load_text(path, graph.payload), modules)
    except NOT_READ:
        return ()
    stacks = None if graph.captured else compilation.stacks.get(stage)
    return with_stacks(nodes, load_text(path, stacks)) if stacks else nodes


def _modules_of(compilation: Compilation, graph: FxGraph, stage: str) -> dict[str, Module]:
    modules = dict(compilation.modules.get(stage, {}))
    for schedule in compilation.schedules:
        if schedule.direction == graph.direction:
            modules.update(schedule.modules)
    return modules


class GrowingReport:
    """The report of a log so far, for all threads that show it.

    One thread reads at a time, at most once in `rests_s` seconds; other threads get the last report. `appended`
    is True for a log of any size that never shrinks; only the first 64 MB of other logs are read. `is_behind` is
    True if the last reading ended before the end of the log. The report of an appended log is from the last
    reading that reached the end.
    """

    def __init__(self, path: Path, rests_s: float = LOOK_S, *, appended: bool = False) -> None:
        self.path = path
        self._appended = appended
        self._rests_s = rests_s
        self._lock = Lock()
        self._looked_s = float("-inf")
        self._begin()

    def _begin(self) -> None:
        self._draft: ReportDraft | None = None
        self._report = Report(Setting())
        self.is_behind = self._changed = False

    def look(self) -> Report:
        """Return the report of the log now, or from the last reading; empty if there is no log yet."""
        if self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._report

    def _look(self) -> None:
        if time.monotonic() - self._looked_s < self._rests_s:
            return
        try:
            self._read()
        except TraceError:
            self._begin()
        self._looked_s = time.monotonic()

    def _read(self) -> None:
        if self._draft is None:
            self._draft = ReportDraft((AppendedReader if self._appended else GrowingReader)(self.path))
        reader = self._draft.reader
        assert isinstance(reader, GrowingReader)
        ends_s, before = time.monotonic() + LONGEST_LOOK_S, reader.size
        while True:
            size = reader.size
            for record in reader.new_records():
                read_record(self._draft, record)
            self.is_behind = reader.size - size >= MOST_AT_ONCE_BYTES
            if not self.is_behind or time.monotonic() > ends_s:
                break
        self._changed |= reader.size != before
        if self._changed and not (self._appended and self.is_behind):
            self._report, self._changed = draft_report(self._draft), False


def outline(index: TraceIndex) -> Report:
    """Return a report with frames, graph breaks, recompiles, failures and seconds; raises TraceError.

    Its phases are from torch's metrics, one for each compilation and direction. Its graphs have no ops. Guards, kernels
    and other facts from large records are left out.
    """
    with TraceReader(index.path) as reader:
        reader.strings.update(index.tables.strings)
        draft = ReportDraft(reader)
        for row in index.rows(index.numbers((*OUTLINED, *GRAPH_STAGES))):
            if row.kind in GRAPH_STAGES:
                _add_graph(draft, row, GRAPH_STAGES[row.kind])
                continue
            for record in reader.record_of(row.header, row.offset + row.length):
                read_record(draft, record)
                _add_phase(draft, record)
        draft.kinds.clear()
        draft.kinds.update(index.counts())
        return draft_report(draft)


def _add_phase(draft: ReportDraft, record: TraceRecord) -> None:
    body = record.body if record.kind in METRICS and isinstance(record.body, dict) else {}
    start_us, length_us = body.get("start_time_us"), counted(body.get("duration_us"))
    if isinstance(start_us, int) and length_us is not None and len(draft.phases) < MAX_ITEMS:
        compile_id = draft.unique_id(record.compile_id)
        draft.phases.append(
            Phase(METRICS[record.kind], compile_id, float(start_us), float(start_us + length_us), depth=0)
        )


def _add_graph(draft: ReportDraft, row: IndexRow, stage: Stage) -> None:
    compile_id = draft.unique_id(row.compile_id)
    record = TraceRecord(
        row.kind, {}, compile_id, row.attempt, row.rank, "", row.header, row.offset, row.length, md5=""
    )
    if not row.compile_id and stage in FIRST:
        draft.begin_root()
    compilation = draft.compilation(record)
    graph_id = compilation.fresh_id(stage, "")
    compilation.graphs.append(FxGraph(graph_id, stage, "", row.attempt, draft.payload(record), {}))
