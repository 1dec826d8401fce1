"""Parsers of Chromium events, caches, metrics, configs, symbolic sizes and export issues.

A restarted attempt creates new symbols, so symbols of the earlier attempt are dropped with their guards and
specializations.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from core.report import (
    CacheEvent,
    ConfigText,
    ExportIssue,
    Expression,
    Frame,
    GraphRuns,
    MetricsKind,
    MetricsRecord,
    Phase,
    Place,
    Specialization,
    Symbol,
    SymbolGuard,
)
from core.report.records.compilation import CacheKeyRecord
from core.trace.parsers.draft import MAX_ITEMS, MAX_STACK, CompilationDraft, ReportDraft
from core.trace.reader import TraceRecord

Parser = Callable[[ReportDraft, TraceRecord], None]
CACHE = re.compile(r"^(fx_graph(?:_bundled)?|autograd|aotautograd|aot_autograd)_cache_(hit|miss|bypass|disabled)$")
# The last phase of a frame whose compiled code Dynamo loaded from its cache: torch logs no metrics of it.
LOADED = "precompile_build_guards"

# The first phase of a compilation.
DYNAMO = "dynamo"
MAX_TIME_US = 1e18  #: a time in microseconds


@dataclass(slots=True)
class _Event:
    """A Chromium event; the types of its fields are not known."""

    name: Any = ""
    ts: Any = None
    ph: Any = None
    tid: Any = None
    args: Any = None
    header_id: Any = ""

    @property
    def logged_id(self) -> str:
        """Compile id as torch logs it; empty if there is none."""
        name = str(self.args.get("compile_id") or "") if isinstance(self.args, dict) else ""
        return "" if name == "None" else name or str(self.header_id)


def _of_header(body: Any) -> _Event | None:
    fields = {name: body.get(name) for name in ("ts", "ph", "tid", "args")} if isinstance(body, dict) else {}
    return _Event(body.get("name", ""), **fields) if fields else None


def chromium_event(draft: ReportDraft, record: TraceRecord) -> None:
    """Read the start (B) or end (E) of a phase, or an instant (i)."""
    event = draft.reader.json_as(record, _Event) if record.length else _of_header(record.body)
    if event is None or not isinstance(event.ts, (int, float)) or abs(event.ts) > MAX_TIME_US:
        return
    if not (isinstance(event.args, dict) and "compile_id" in event.args):
        # torch 2.5 names the compilation in the record's header alone.
        event.header_id = record.compile_id
    if event.ph == "B":
        _begin(draft, event)
    elif event.ph == "E":
        _end(draft, event)
        if event.name == LOADED:
            draft.compilation(record).finished = True
    elif event.ph == "i":
        _instant(draft, event)


def _begin(draft: ReportDraft, event: _Event) -> None:
    if len(draft.phases) >= MAX_ITEMS:
        return
    if event.name == DYNAMO:
        draft.begin(event.logged_id)
    stack, index = draft.open_phases, len(draft.phases)
    around = draft.phases[stack[-1]].compilation if stack else ""
    thread = _free_thread(draft) if _is_beside(event, around) else 0
    name, compilation = str(event.name), _compile_id(draft, event) or around
    (draft.open_beside if thread else stack).append(index)
    depth = len(stack) + thread if thread else len(stack) - 1
    draft.phases.append(Phase(name, compilation, float(event.ts), None, depth, thread))


def _is_beside(event: _Event, around: str) -> bool:
    """Return True if an event is from another thread.

    Such an event has a thread id other than 0, or the compile id `None` during a compilation.
    """
    unnamed = isinstance(event.args, dict) and event.args.get("compile_id") == "None"
    return bool(_thread(event) or (around and unnamed))


def _free_thread(draft: ReportDraft) -> int:
    busy = {draft.phases[index].thread for index in draft.open_beside}
    return next(number for number in range(1, len(busy) + 2) if number not in busy)


def _end(draft: ReportDraft, event: _Event) -> None:
    """Close the innermost phase with the event's name; unclosed phases inside it end with it.

    Torch does not log which of several equal phases in other threads ended. The oldest is closed; the sum of
    their times is correct in any case.
    """
    name = str(event.name)
    beside = next((index for index in draft.open_beside if draft.phases[index].name == name), None)
    if beside is not None and (not _compile_id(draft, event) or _thread(event)):
        draft.open_beside.remove(beside)
        _close(draft, beside, event)
        return
    stack = draft.open_phases
    position = next((i for i in range(len(stack) - 1, -1, -1) if draft.phases[stack[i]].name == name), None)
    if position is None:
        return
    for index in stack[position:]:
        _close(draft, index, event)
    del stack[position:]


def _close(draft: ReportDraft, index: int, event: _Event) -> None:
    phase = draft.phases[index]
    compilation = phase.compilation or _compile_id(draft, event)
    # Of many thousand phases each is closed once: `replace` would take a fifth of the time to read a log's events.
    draft.phases[index] = Phase(phase.name, compilation, phase.start_us, float(event.ts), phase.depth, phase.thread)


# Metric → phase that it measures, each inside the one before it.
MEASURED_PHASES = {
    "entire_frame_compile_time_s": "entire_frame_compile",
    "backend_compile_time_s": "backend_compile",
    "inductor_compile_time_s": "inductor_compile",
    "code_gen_time_s": "code_gen",
}


def measured_phases(compilations: Iterable[CompilationDraft]) -> tuple[Phase, ...]:
    """Return the phases of torch's metrics, for a log without Chromium events.

    torch logs only their seconds, so each phase ends with the phase around it, and compilations follow each other.
    """
    phases: list[Phase] = []
    ended_us = 0.0
    for compilation in compilations:
        start_us = ended_us
        for depth, (metric, name) in enumerate(MEASURED_PHASES.items()):
            seconds = compilation.seconds.get(metric)
            if seconds is None:
                break
            if not depth:
                start_us = max(ended_us, compilation.ended_us - seconds * 1e6)
                ended_us = start_us + seconds * 1e6
            start_us = max(start_us, ended_us - seconds * 1e6)
            phases.append(Phase(name, compilation.id, start_us, ended_us, depth))
    return tuple(phases)


def add_seconds(compilation: CompilationDraft, record: TraceRecord) -> None:
    """Add the seconds of the phases that a compilation's metrics measure, and the time of the record."""
    values = {metric: record.body.get(metric) for metric in MEASURED_PHASES}
    compilation.seconds = {
        metric: float(value)
        for metric, value in values.items()
        if isinstance(value, (int, float)) and 0 < value < MAX_TIME_US / 1e6
    }
    compilation.ended_us = _logged_us(record.timestamp)


def _logged_us(timestamp: str) -> float:
    """Return a record's time in microseconds; 0 if it cannot be read. The log has no year."""
    try:
        return datetime.strptime(f"2000{timestamp}", "%Y%m%d %H:%M:%S.%f").replace(tzinfo=UTC).timestamp() * 1e6
    except ValueError:
        return 0.0


def _instant(draft: ReportDraft, event: _Event) -> None:
    match = CACHE.match(str(event.name))
    if match:
        args = event.args if isinstance(event.args, dict) else {}
        cache = "fx_graph" if match.group(1).startswith("fx_graph") else "aotautograd"
        reason = str(args.get("cache_bypass_reason") or "")
        draft.add_cache(
            CacheEvent(cache, match.group(2), _compile_id(draft, event), str(args.get("key") or ""), reason[:2000])
        )


def _thread(event: _Event) -> int:
    return event.tid if isinstance(event.tid, int) else 0


def _compile_id(draft: ReportDraft, event: _Event) -> str:
    return draft.unique_id(event.logged_id)


def metrics(kind: MetricsKind, parse: Parser | None = None) -> Parser:
    """Return a parser that calls `parse`, and then adds the place of torch's metrics."""

    def parse_metrics(draft: ReportDraft, record: TraceRecord) -> None:
        if parse is not None:
            parse(draft, record)
        draft.keep(record, MetricsRecord(record.compile_id, kind, draft.header(record)))

    return parse_metrics


def graph_execution(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the order in which compiled code was executed; raises ValueError if it is no list."""
    data = draft.reader.json(record)
    order = data.get("graph_execution_order") if isinstance(data, dict) else None
    if not isinstance(order, list):
        raise ValueError("the order of execution is a list")
    ids = (str(entry.get("compile_id") or "") for entry in order if isinstance(entry, dict))
    for compile_id, executions in groupby(ids):
        draft.keep(record, GraphRuns(compile_id, len(list(executions))))


def config(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the place of a config module's values."""
    draft.keep(record, ConfigText(record.compile_id, record.kind.removeprefix("artifact:"), draft.payload(record)))


def cache_artifact(draft: ReportDraft, record: TraceRecord) -> None:
    """Add `fx_graph_cache_hit` and similar events, with the key and the bypass reason if torch logs them."""
    match = CACHE.match(record.kind.removeprefix("artifact:"))
    if not match:
        return
    data = draft.reader.json(record) if record.length else {}
    data = data if isinstance(data, dict) else {}
    cache = "fx_graph" if match.group(1).startswith("fx_graph") else "aotautograd"
    logged = CacheEvent(
        cache,
        match.group(2),
        record.compile_id,
        str(data.get("key") or data.get("cache_key") or ""),
        str(data.get("cache_bypass_reason") or "")[:2000],
        draft.payload(record) if data else None,
    )
    draft.complete_cache(logged)


def cache_key(draft: ReportDraft, record: TraceRecord, key: CacheKeyRecord) -> None:
    """Keep the place of a recorded cache key for the outcome of its lookup, which torch logs next."""
    draft.cache_inputs.setdefault((key.cache, record.compile_id), []).append(draft.payload(record))


# The file of torch that exports a model.
EXPORTER = "torch/export/_trace.py"
MAX_EXPRESSIONS = 2_000  #: expressions of symbols of a compilation
MAX_VALUES = 20  #: variables and arguments of an expression
MAX_TEXT_CHARS = 400  #: characters of an expression, or of a variable's value


def create_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a dynamic size."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=True))


def create_unbacked_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """Add an unbacked size, which depends on data."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=False))


def guard_added(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a condition that tracing required; only TORCH_DTRACE logs the inputs of its symbols."""
    sources = _texts(record.body.get("symbol_to_sources"))
    _keep_guard(draft, record, SymbolGuard(str(record.body.get("expr", "")), _stack(draft, record), sources=sources))


def propagate_real_tensors(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the value that torch assumed for an expression, from real tensors propagated during tracing."""
    body = record.body
    _keep_guard(
        draft, record, SymbolGuard(str(body.get("expr", "")), _stack(draft, record), str(body.get("result", "")))
    )


def propagate_provenance(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a data-dependent expression with the value that torch's draft export assumed for it."""
    body, stack = record.body, _stack(draft, record)
    expression, assumed = str(body.get("expr", "")), str(body.get("result", ""))
    sources = _texts(body.get("symbol_to_sources"))
    _keep_guard(draft, record, SymbolGuard(expression, stack, assumed, sources))
    frame = body.get("frame_locals")
    values = _texts(frame.get("locals")) if isinstance(frame, dict) else {}
    _keep_issue(draft, record, ExportIssue("data-dependent", expression, "", assumed, stack, values))


def data_dependent_error(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a data-dependent expression that tracing needed, but could not evaluate."""
    stack = draft.frames(record.body.get("stack"))
    _keep_issue(draft, record, ExportIssue("data-dependent", str(record.body.get("expr", "")), stack=stack))


def missing_kernel(draft: ReportDraft, record: TraceRecord) -> None:
    """Add an op without a fake kernel."""
    _keep_issue(draft, record, ExportIssue("missing fake kernel", str(record.body.get("op", ""))))


def mismatched_kernel(draft: ReportDraft, record: TraceRecord) -> None:
    """Add an op whose fake kernel differs from its real one."""
    op, reason = str(record.body.get("op", "")), str(record.body.get("reason", ""))
    _keep_issue(draft, record, ExportIssue("mismatched fake kernel", op, reason[:MAX_TEXT_CHARS].strip()))


def expression_created(draft: ReportDraft, record: TraceRecord) -> None:
    """Add an expression of symbols with the user's line; equal expressions of a line are added once."""
    body, stack = record.body, _stack(draft, record)
    arguments = body.get("arguments")
    texts = tuple(str(one)[:MAX_TEXT_CHARS] for one in arguments[:MAX_VALUES]) if isinstance(arguments, list) else ()
    text = str(body.get("result", ""))[:MAX_TEXT_CHARS]
    place = stack[-1] if stack else None
    expressions = _compilation(draft, record).expressions
    if len(expressions) >= MAX_EXPRESSIONS and (text, place) not in expressions:
        draft.unplaced(record)
        return
    expressions.setdefault((text, place), Expression(text, str(body.get("method", "")), texts, place))


def _keep_issue(draft: ReportDraft, record: TraceRecord, issue: ExportIssue) -> None:
    issues = _compilation(draft, record).export_issues
    key = (issue.kind, issue.subject, issue.assumed)
    known = issues.get(key)
    if known is not None:
        issues[key] = replace(known, count=known.count + 1)
    elif len(issues) < MAX_ITEMS:
        issues[key] = issue


def _texts(values: Any) -> dict[str, str]:
    """Return named values as short texts; a list of texts is joined."""
    named = list(values.items())[:MAX_VALUES] if isinstance(values, dict) else []
    return {
        str(name)[:MAX_TEXT_CHARS]: (", ".join(map(str, value)) if isinstance(value, list) else str(value))[
            :MAX_TEXT_CHARS
        ]
        for name, value in named
    }


def specialization(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a symbol that was specialized to a constant."""
    body = record.body
    sources = body.get("sources")
    value = Specialization(
        symbol=str(body.get("symbol", "")),
        sources=tuple(map(str, sources)) if isinstance(sources, list) else (),
        value=str(body.get("value", "")),
        reason=str(body.get("reason", "")),
        stack=_stack(draft, record),
    )
    specializations = _compilation(draft, record).specializations
    if len(specializations) < MAX_ITEMS:
        specializations[value.symbol, value.value] = value


def _compilation(draft: ReportDraft, record: TraceRecord) -> CompilationDraft:
    compilation = draft.compilation(record)
    if not record.compile_id and not compilation.exported:
        compilation.exported = _is_export(draft, record.body.get("stack"))
    if record.attempt > compilation.symbols_attempt:
        compilation.symbols_attempt = record.attempt
        compilation.symbols.clear()
        compilation.symbol_guards.clear()
        compilation.specializations.clear()
        compilation.expressions.clear()
    return compilation


def _is_export(draft: ReportDraft, stack: Any) -> bool:
    """Return True if a stack of torch's own frames contains a frame of torch.export."""
    frames = stack[:MAX_STACK] if isinstance(stack, list) else []
    names = (draft.reader.file_name(frame.get("filename", "")) for frame in frames if isinstance(frame, dict))
    return any(name.endswith(EXPORTER) for name in names)


def _symbol(draft: ReportDraft, record: TraceRecord, backed: bool) -> Symbol:
    body, stack = record.body, _stack(draft, record)
    return Symbol(
        name=str(body.get("symbol", "")),
        source=str(body.get("source", "")),
        value=str(body.get("val", "")),
        range=str(body.get("vr", "")),
        code=stack[-1].text if stack else "",
        location=Place(stack[-1].file, stack[-1].line, stack[-1].name) if stack else None,
        backed=backed,
        stack=stack,
    )


def _add(compilation: CompilationDraft, symbol: Symbol) -> None:
    if len(compilation.symbols) < MAX_ITEMS:
        compilation.symbols.setdefault((symbol.name, symbol.source), symbol)


def _keep_guard(draft: ReportDraft, record: TraceRecord, guard: SymbolGuard) -> None:
    """Add a guard, or complete the guard of an earlier record: torch logs some guards twice."""
    guards = _compilation(draft, record).symbol_guards
    if len(guards) < MAX_ITEMS:
        known = guards.setdefault((guard.expression, guard.assumed), guard)
        guards[guard.expression, guard.assumed] = replace(
            known, stack=known.stack or guard.stack, sources=known.sources or guard.sources
        )


def _stack(draft: ReportDraft, record: TraceRecord) -> tuple[Frame, ...]:
    return draft.frames(record.body.get("user_stack"))
