"""What Dynamo logs of symbolic sizes: each symbol, the conditions that tracing needed, and which became constants.

A restarted attempt makes its symbols anew, so those of the attempt before do not count.
"""

from __future__ import annotations

from core.report import Frame, Place, Specialization, Symbol, SymbolGuard
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.values import MAX_ITEMS


def create_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """A dynamic size."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=True))


def create_unbacked_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """A size that only the data tell."""
    _add(_compilation(draft, record), _symbol(draft, record, backed=False))


def guard_added(draft: ReportDraft, record: TraceRecord) -> None:
    """A condition that tracing needed."""
    _keep_guard(draft, record, SymbolGuard(str(record.body.get("expr", "")), _stack(draft, record)))


def propagate_real_tensors(draft: ReportDraft, record: TraceRecord) -> None:
    """What torch took an expression to be, from tensors that it kept at hand."""
    body = record.body
    _keep_guard(
        draft, record, SymbolGuard(str(body.get("expr", "")), _stack(draft, record), str(body.get("result", "")))
    )


def specialization(draft: ReportDraft, record: TraceRecord) -> None:
    """A symbol that became a constant."""
    body = record.body
    sources = body.get("sources")
    found = Specialization(
        symbol=str(body.get("symbol", "")),
        sources=tuple(map(str, sources)) if isinstance(sources, list) else (),
        value=str(body.get("value", "")),
        reason=str(body.get("reason", "")),
        stack=_stack(draft, record),
    )
    known = _compilation(draft, record).specializations
    if len(known) < MAX_ITEMS:
        known[found.symbol, found.value] = found


def _compilation(draft: ReportDraft, record: TraceRecord) -> CompilationDraft:
    found = draft.compilation(record)
    if record.attempt > found.symbols_attempt:
        found.symbols_attempt = record.attempt
        for known in (found.symbols, found.symbol_guards, found.specializations):
            known.clear()
    return found


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


def _add(found: CompilationDraft, symbol: Symbol) -> None:
    if len(found.symbols) < MAX_ITEMS:
        found.symbols.setdefault((symbol.name, symbol.source), symbol)


def _keep_guard(draft: ReportDraft, record: TraceRecord, guard: SymbolGuard) -> None:
    known = _compilation(draft, record).symbol_guards
    if len(known) < MAX_ITEMS:
        known.setdefault((guard.expression, guard.assumed), guard)


def _stack(draft: ReportDraft, record: TraceRecord) -> tuple[Frame, ...]:
    return draft.frames(record.body.get("user_stack"))
