"""Parsers of the records of symbolic sizes: symbols, conditions required by tracing, specializations, export's issues.

A restarted attempt creates new symbols, so symbols of the earlier attempt are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.report import ExportIssue, Expression, Frame, Place, Specialization, Symbol, SymbolGuard
from core.trace import TraceRecord
from core.trace.parsers.draft import MAX_ITEMS, MAX_STACK, CompilationDraft, ReportDraft

# The file of torch that exports a model.
EXPORTER = "torch/export/_trace.py"
MAX_EXPRESSIONS = 2_000
MAX_VALUES = 20
MAX_TEXT_CHARS = 400


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
    """Add a data-dependent expression to whose value torch's draft export committed."""
    body, stack = record.body, _stack(draft, record)
    expression, assumed = str(body.get("expr", "")), str(body.get("result", ""))
    sources = _texts(body.get("symbol_to_sources"))
    _keep_guard(draft, record, SymbolGuard(expression, stack, assumed, sources))
    frame = body.get("frame_locals")
    values = _texts(frame.get("locals")) if isinstance(frame, dict) else {}
    _keep_issue(draft, record, ExportIssue("data-dependent", expression, "", assumed, stack, values))


def data_dependent_error(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a data-dependent expression whose value tracing needed, and could not know."""
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
    """Add an expression of symbols with the user's line; equal ones of a line are added once."""
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
    """Return True if torch.export is on a stack of torch's own frames."""
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
    """Add a guard, or what another record of the same guard lacks: torch logs some of them twice."""
    guards = _compilation(draft, record).symbol_guards
    if len(guards) < MAX_ITEMS:
        known = guards.setdefault((guard.expression, guard.assumed), guard)
        guards[guard.expression, guard.assumed] = replace(
            known, stack=known.stack or guard.stack, sources=known.sources or guard.sources
        )


def _stack(draft: ReportDraft, record: TraceRecord) -> tuple[Frame, ...]:
    return draft.frames(record.body.get("user_stack"))
