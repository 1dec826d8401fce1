"""Parsers of Dynamo's records of symbolic sizes: symbols, the conditions that tracing needed, and specializations.

A restarted attempt makes new symbols, so those of the attempt before do not count.
"""

from __future__ import annotations

from core.report import Frame, Place, Specialization, Symbol, SymbolGuard
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.values import MAX_ITEMS


def create_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a dynamic size."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=True))


def create_unbacked_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep an unbacked size, which depends on data."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=False))


def guard_added(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a condition that tracing needed."""
    _keep_guard(draft, record, SymbolGuard(str(record.body.get("expr", "")), _stack(draft, record)))


def propagate_real_tensors(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the value that torch assumed for an expression, from real tensors that it traced along."""
    body = record.body
    _keep_guard(
        draft, record, SymbolGuard(str(body.get("expr", "")), _stack(draft, record), str(body.get("result", "")))
    )


def specialization(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a symbol that became a constant."""
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
    if record.attempt > compilation.symbols_attempt:
        compilation.symbols_attempt = record.attempt
        for entries in (compilation.symbols, compilation.symbol_guards, compilation.specializations):
            entries.clear()
    return compilation


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
    guards = _compilation(draft, record).symbol_guards
    if len(guards) < MAX_ITEMS:
        guards.setdefault((guard.expression, guard.assumed), guard)


def _stack(draft: ReportDraft, record: TraceRecord) -> tuple[Frame, ...]:
    return draft.frames(record.body.get("user_stack"))
