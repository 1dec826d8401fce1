"""Parsers of the worker's own records: measurements, passes, memory, texts of backends and packages."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

from core.base.decoder import converted, counted
from core.base.syntax import NOT_READ, module
from core.base.words import DEPRECATED, SLOW
from core.report import (
    AnnotationTable,
    AnnotationText,
    Binary,
    Buffer,
    Call,
    Capture,
    Crossing,
    Frame,
    FxGraph,
    FxNode,
    GraphPass,
    Invocation,
    KernelTime,
    LogText,
    MemoryUse,
    PackagePart,
    PackageText,
    Partition,
    PatternMatch,
    Pipeline,
    Place,
    RemarkKind,
    Roofline,
    Schedule,
    SchedulerNode,
    Setting,
    Source,
    SourceRemark,
    UnchangedPasses,
    WrapperTime,
)
from core.report.model import DEBUG_FILES
from core.report.records.compilation import (
    BinaryRecord,
    CaptureHead,
    ExecutionsRecord,
    KeptRecord,
    KernelRecord,
    KernelTimesRecord,
    MemoryRecord,
    ModulesRecord,
    NoteRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    ScheduledNode,
    ScheduleRecord,
    SourceRecord,
    StacksRecord,
    StepRecord,
)
from core.trace.parsers.draft import CompilationDraft, ReportDraft, report_value
from core.trace.parsers.fx_text import parse_graph
from core.trace.parsers.inductor import count_nodes
from core.trace.reader import TraceRecord


def torch_version(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the torch version from torch's own record, if the worker has not recorded the version."""
    data = draft.reader.json(record)
    setting = draft.values.last(Setting)
    if isinstance(data, dict) and not (setting and setting.torch):
        draft.keep(record, Setting(torch=str(data.get("pytorch_version", ""))))


def source(draft: ReportDraft, record: TraceRecord, content: SourceRecord) -> None:
    """Add a file of the user's code."""
    # Only the first file is the model's; library files make the same calls for good reasons.
    remarks = () if draft.values.last(Source) else source_remarks(content.path, content.text)
    draft.keep(record, Source(content.path, draft.payload(record), remarks))


def step(draft: ReportDraft, record: TraceRecord, content: StepRecord) -> None:
    """Add the name of the worker's next step."""
    draft.steps.append(content.name)


def note(draft: ReportDraft, record: TraceRecord, content: NoteRecord) -> None:
    """Add a note about the run."""
    draft.notes.append(content.text)
    draft.lost |= content.lost


def kernel(draft: ReportDraft, record: TraceRecord, content: KernelRecord) -> None:
    """Add a kernel's scheduler nodes."""
    draft.compilation(record).kernel_notes.append(content)


def binary(draft: ReportDraft, record: TraceRecord, content: BinaryRecord) -> None:
    """Add the result of compiling a Triton kernel for a target."""
    draft.compilation(record).binaries[content.name, content.direction] = report_value(Binary, content)


def modules(draft: ReportDraft, record: TraceRecord, content: ModulesRecord) -> None:
    """Add the nn.Module of each node of the graphs before the scheduler."""
    draft.compilation(record).modules[content.stage] = content.modules


def stacks(draft: ReportDraft, record: TraceRecord, content: StacksRecord) -> None:
    """Add the position of the stacks of a graph's nodes; they are read with the nodes."""
    draft.compilation(record).stacks[content.stage] = draft.payload(record)


def schedule(draft: ReportDraft, record: TraceRecord, content: ScheduleRecord) -> None:
    """Add the scheduler's nodes before and after fusion, with the fusion rounds.

    Fused nodes and kernels name a foreach node by its parts, so that it gets the name of its first part.
    """
    before = tuple(replace(_node(node), name=next(iter(node.nodes), node.name)) for node in content.nodes_before)
    names = {node.name for node in before}
    after = (
        replace(_node(node), nodes=tuple(name for name in node.nodes if name in names) or node.nodes)
        for node in content.nodes_after
    )
    value = report_value(
        Schedule,
        content,
        graph_id=-1 if content.graph_id is None else content.graph_id,
        before=before,
        after=tuple(after),
        buffers=tuple(report_value(Buffer, layout, name=name) for name, layout in content.buffers.items()),
    )
    draft.compilation(record).schedules.append(value)


def _node(content: ScheduledNode) -> SchedulerNode:
    return report_value(
        SchedulerNode, content, reads=tuple(content.reads.items()), writes=tuple(content.writes.items())
    )


def keyed(draft: ReportDraft, record: TraceRecord, content: Invocation | Pipeline) -> None:
    """Add a value with the key of its compilation, by which later records name it."""
    if content.key:
        draft.keys[content.key] = record.compile_id
    draft.keep(record, content)


def executions(draft: ReportDraft, record: TraceRecord, content: ExecutionsRecord) -> None:
    """Add the executions of the callable that a backend returned, and their totals."""
    for execution in content.executions:
        draft.keep(record, replace(execution, compilation=draft.id_of(execution.compilation)))
    for total in content.totals:
        draft.keep(record, replace(total, compilation=draft.id_of(total.compilation)))


def crossing(draft: ReportDraft, record: TraceRecord, content: Crossing) -> None:
    """Add the calls of a segment across the C ABI."""
    draft.keep(record, replace(content, compilation=draft.id_of(content.compilation)))


def call(draft: ReportDraft, record: TraceRecord, content: Call) -> None:
    """Add a call; the ids of its compilations are made unique in the log."""
    draft.keep(record, replace(content, newest=tuple(map(draft.unique_id, content.newest))))


def memory(draft: ReportDraft, record: TraceRecord, content: MemoryRecord) -> None:
    """Add the memory use of an eager or compiled call, with the log offset of each output code.

    Raises ValueError if the record is inconsistent.
    """
    _check(content)
    codes = tuple(code.offset if (code := draft.output_codes.get(path)) else None for path in content.codes)
    draft.keep(record, report_value(MemoryUse, content, codes=codes))


def _check(content: MemoryRecord) -> None:
    curve = content.curve
    if len({len(curve.at_us), len(curve.live_bytes), len(curve.places)}) > 1:
        raise ValueError("the curve's lists differ in length")
    named = [*curve.places, *(alive.place for alive in content.alive)]
    codes = [place.code for place in content.places if place.code is not None]
    if any(not -1 <= place < len(content.places) for place in named):
        raise ValueError("there is no such place")
    if any(not 0 <= code < len(content.codes) for code in codes):
        raise ValueError("there is no such code")


def kernel_times(draft: ReportDraft, record: TraceRecord, content: KernelTimesRecord) -> None:
    """Add the kernel times of one output code.

    A record without a path has the reason why nothing was timed.
    """
    if content.reason:
        draft.untimed = content.reason
        return
    draft.back_to_back_s = content.call_s
    draft.kernel_load = content.load
    code = draft.output_codes[content.path]
    compilation = draft.compilations[code.compilation]
    for timed in content.kernels:
        compilation.times[code.offset, timed.line] = report_value(KernelTime, timed)
    compilation.values.add(WrapperTime(code.direction, content.wrapper_s, content.calls))


def roofline(draft: ReportDraft, record: TraceRecord, ceilings: Roofline) -> None:
    """Add the roofline of the run's device; older versions report noise only in a text."""
    disturbed = ceilings.disturbed or "busy" in ceilings.how
    draft.keep(record, replace(ceilings, source="measured", disturbed=disturbed))


def graph_pass(draft: ReportDraft, record: TraceRecord, content: PassRecord) -> None:
    """Add a pass that changed its graph."""
    patterns = tuple(PatternMatch(name, _place(source), count) for name, source, count in content.patterns)
    nodes = _nodes(draft, record, content)
    value = report_value(GraphPass, content, graph="", source=_place(content.source), patterns=patterns, nodes=nodes)
    draft.compilation(record).add_passes(value)


def _place(text: str) -> Place | None:
    """Parse `file:line` as in the record; None for anything else."""
    file, _, line = text.rpartition(":")
    return Place(file, int(line)) if file and line.isdecimal() and len(line) < 10 else None


def _nodes(draft: ReportDraft, record: TraceRecord, content: PassRecord) -> tuple[FxNode, ...]:
    """Return the added and rewritten nodes; their line is 0, since no page shows this text."""
    if not content.text:
        return ()
    wanted = {*content.added, *content.rewritten}
    try:
        nodes = parse_graph(content.text, content.modules, external=content.reads)
    except NOT_READ:
        draft.problem("text of a pass is not Python", record.offset)
        return ()
    return tuple(replace(node, line=0) for node in nodes if node.name in wanted)


def unchanged_passes(draft: ReportDraft, record: TraceRecord, content: PassesRecord) -> None:
    """Add a stage's passes that changed nothing."""
    draft.compilation(record).add_passes(report_value(UnchangedPasses, content, graph="", passes=content.unchanged))


def partition(draft: ReportDraft, record: TraceRecord, content: PartitionRecord) -> None:
    """Add the partitioner's division of the joint graph."""
    reasons, policies = content.reasons, content.policies
    saved = tuple(
        replace(value, reasons=reasons.get(value.name, ()), policy=policies.get(value.name, ""))
        for value in content.saved
    )
    compilation = draft.compilation(record)
    graph = newest_joint_graph(compilation)
    compilation.partitions.append(report_value(Partition, content, graph=graph, recorded=True, saved=saved))


def saved_for_backward(draft: ReportDraft, record: TraceRecord, content: KeptRecord) -> None:
    """Add to the last partition the values that the compiled forward saves."""
    partitions = draft.compilation(record).partitions
    if partitions and partitions[-1].kept is None:
        partitions[-1] = replace(partitions[-1], kept=content.values)


def newest_joint_graph(compilation: CompilationDraft) -> str:
    """Return the id of the last logged joint graph, which the partitioner divides; empty if there is none."""
    return next((graph.id for graph in reversed(compilation.graphs) if graph.stage == "aot_joint_graph"), "")


# Functions of torch and of libraries that return another value under torch.compile.
ASKS = frozenset({"is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling"})
LOGS = "TORCH_LOGS"
WORTH_READING = re.compile(r"is_\w*compiling|TORCH_LOGS")
MOST_REMARKS = 20  #: remarks on a file of the model
LONGEST_LINE = 200  #: characters of a quoted line in a remark


def source_remarks(path: str, text: str) -> tuple[SourceRemark, ...]:
    """Return remarks on lines of the model's file.

    They ask whether the code is compiled, set TORCH_LOGS, or have a text about a slow path. TORCH_LOGS counts once
    torch is imported. A remark on a text has the text itself in place of the line. Only the first such lines have a
    remark. Empty if the file is not Python.
    """
    if not any(pattern.search(text) for pattern in (WORTH_READING, SLOW, DEPRECATED)):
        return ()
    try:
        tree = module(text)
    except NOT_READ:
        return ()
    lines = text.split("\n")
    places = sorted({(line, kind, literal or lines[line - 1].strip()) for line, kind, literal in _lines(tree)})
    return tuple(
        SourceRemark(kind, Frame(path, line, text=shown[:LONGEST_LINE])) for line, kind, shown in places[:MOST_REMARKS]
    )


def _lines(tree: ast.Module) -> Iterator[tuple[int, RemarkKind, str]]:
    """Yield the line and the kind of each remark, and the text of a string."""
    imported = min((node.lineno for node in tree.body if _imports_torch(node)), default=0)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ASKS:
            yield node.lineno, "asks whether it is compiled", ""
        elif isinstance(node, (ast.Assign, ast.Call)) and node.lineno > imported and _sets_logs(node):
            yield node.lineno, "sets TORCH_LOGS", ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for text in map(str.strip, node.value.splitlines()):
                if SLOW.search(text) or DEPRECATED.search(text):
                    yield node.lineno, "slow text", text


def _imports_torch(node: ast.stmt) -> bool:
    names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.partition(".")[0] == "torch" for name in names)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _sets_logs(node: ast.Assign | ast.Call) -> bool:
    """Return True if a statement sets TORCH_LOGS: by assignment, `setdefault`, `update` or `putenv`."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and _is_logs(target.slice) for target in node.targets)
    if _name(node.func) == "update":
        keys = [
            key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys if key is not None
        ]
        return any(map(_is_logs, keys)) or any(keyword.arg == LOGS for keyword in node.keywords)
    return _name(node.func) in ("setdefault", "putenv") and bool(node.args) and _is_logs(node.args[0])


def _is_logs(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == LOGS


MOST_NAME_CHARS = 400  #: the name of a text that belongs to a package
MOST_LOG_NAMES = 10_000  #: names by which messages in a record of torch's log are counted
MOST_ANNOTATION_ROWS = 2_000  #: limit: rows of a backend's table
MOST_ANNOTATION_COLUMNS = 24  #: limit: columns of a backend's table
MOST_CELL_CHARS = 400  #: characters of a cell or title of a backend's table


def package_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a text of an AOTInductor package; raises ValueError without known part, title and language."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = body.get("title"), body.get("language")
    part: PackagePart | None = next((part for part in get_args(PackagePart) if part == body.get("part")), None)
    if part is None or not isinstance(title, str) or not isinstance(language, str):
        raise ValueError("a text of a package has a part, a title and a language")
    draft.keep(record, PackageText(part, title[:MOST_NAME_CHARS], language[:MOST_NAME_CHARS], draft.payload(record)))


def capture(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a capture of the model; the graph is None if torch could not capture the model."""
    head = converted(record.body, CaptureHead)
    graph = None
    if not head.problem:
        counts = count_nodes(draft, record)
        graph = FxGraph(head.way, head.way, "", 0, draft.payload(record), counts.ops, counts.targets)
    draft.keep(record, report_value(Capture, head, graph=graph))


def debug_file(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a file of torch's debug directory; raises ValueError for an unknown file name."""
    name = record.body.get("file") if isinstance(record.body, dict) else None
    if name not in DEBUG_FILES:
        raise ValueError("a debug file has one of torch's names")
    draft.keep_debug_file(record, name)


def torch_logs(draft: ReportDraft, record: TraceRecord) -> None:
    """Add messages of torch's log with their counts by name; raises ValueError without counts."""
    messages = record.body.get("messages") if isinstance(record.body, dict) else None
    if not isinstance(messages, dict) or len(messages) > MOST_LOG_NAMES:
        raise ValueError("messages of torch's log are counted by name")
    counts = {str(name)[:MOST_NAME_CHARS]: counted(number) or 0 for name, number in messages.items()}
    draft.keep(record, LogText(record.compile_id, counts, draft.payload(record)))


def graph_runnable(draft: ReportDraft, record: TraceRecord) -> None:
    """Add torch's script that runs a graph, the first logged debug file of each graph."""
    draft.keep_debug_file(record, "fx_graph_runnable.py")


def backend_table(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a table with `title`, `columns` and `rows`; raises ValueError.

    A table logged after compiling also names its `compilation`.
    """
    data = draft.reader.json(record)
    if not isinstance(data, dict) or not all(isinstance(data.get(name), list) for name in ("columns", "rows")):
        raise ValueError("a table has columns and rows")
    columns = tuple(str(name)[:MOST_CELL_CHARS] for name in data["columns"][:MOST_ANNOTATION_COLUMNS])
    rows = [row for row in data["rows"] if isinstance(row, list) and len(row) == len(data["columns"])]
    if len(rows) != len(data["rows"]):
        raise ValueError("a row has as many cells as there are columns")
    cells = tuple(tuple(map(_cell, row[:MOST_ANNOTATION_COLUMNS])) for row in rows[:MOST_ANNOTATION_ROWS])
    compilation = record.compile_id or _title(data.get("compilation"))
    draft.keep(record, AnnotationTable(compilation, _title(data.get("title")), columns, cells, len(rows) - len(cells)))


def backend_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a text with the `title` and `language` from its record."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = _title(body.get("title")), _title(body.get("language"))
    draft.keep(record, AnnotationText(record.compile_id, title, language, draft.payload(record)))


def _title(value: Any) -> str:
    return value[:MOST_CELL_CHARS] if isinstance(value, str) else ""


def _cell(value: Any) -> str | int | float | None:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CELL_CHARS]
