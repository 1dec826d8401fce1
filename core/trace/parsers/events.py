"""Parsers of Chromium events: phases of compilation, cache hits and misses; the places of metrics and configs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import Any

from core.report import CacheEvent, ConfigText, GraphRuns, MetricsKind, MetricsRecord, Phase
from core.trace import TraceRecord
from core.trace.parsers.draft import MAX_ITEMS, ReportDraft

Parser = Callable[[ReportDraft, TraceRecord], None]
CACHE = re.compile(r"^(fx_graph|autograd|aotautograd|aot_autograd)_cache_(hit|miss|bypass|disabled)$")

# The first phase of a compilation.
DYNAMO = "dynamo"
MAX_TIME_US = 1e18


def chromium_event(draft: ReportDraft, record: TraceRecord) -> None:
    """Read the start (B) or end (E) of a phase, or an instant (i)."""
    event = draft.reader.json(record) if record.length else record.body
    if not isinstance(event, dict) or not isinstance(event.get("ts"), (int, float)) or abs(event["ts"]) > MAX_TIME_US:
        return
    kind = event.get("ph")
    if kind == "B":
        _begin(draft, event)
    elif kind == "E":
        _end(draft, event)
    elif kind == "i":
        _instant(draft, event)


def _begin(draft: ReportDraft, event: dict[str, Any]) -> None:
    if len(draft.phases) >= MAX_ITEMS:
        return
    if event.get("name") == DYNAMO:
        draft.begin(_logged_id(event))
    stack, index = draft.open_phases, len(draft.phases)
    around = draft.phases[stack[-1]].compilation if stack else ""
    thread = _free_thread(draft) if _is_beside(event, around) else 0
    name, compilation = str(event.get("name", "")), _compile_id(draft, event) or around
    (draft.open_beside if thread else stack).append(index)
    depth = len(stack) + thread if thread else len(stack) - 1
    draft.phases.append(Phase(name, compilation, float(event["ts"]), None, depth, thread))


def _is_beside(event: dict[str, Any], around: str) -> bool:
    """Return True if an event is from another thread: another thread id, or no compile id in a compilation."""
    args = event.get("args")
    return bool(_thread(event) or (around and isinstance(args, dict) and args.get("compile_id") == "None"))


def _free_thread(draft: ReportDraft) -> int:
    busy = {draft.phases[index].thread for index in draft.open_beside}
    return next(number for number in range(1, len(busy) + 2) if number not in busy)


def _end(draft: ReportDraft, event: dict[str, Any]) -> None:
    """Close the innermost phase of that name; unclosed phases inside it end with it.

    Of equal phases in other threads, the oldest is closed: torch does not log which one ended, and their sum is the
    same.
    """
    name = str(event.get("name", ""))
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


def _close(draft: ReportDraft, index: int, event: dict[str, Any]) -> None:
    phase = draft.phases[index]
    draft.phases[index] = replace(
        phase, end_us=float(event["ts"]), compilation=phase.compilation or _compile_id(draft, event)
    )


def _instant(draft: ReportDraft, event: dict[str, Any]) -> None:
    match = CACHE.match(str(event.get("name", "")))
    if match and len(draft.caches) < MAX_ITEMS:
        args = event.get("args") if isinstance(event.get("args"), dict) else {}
        assert isinstance(args, dict)
        cache = "fx_graph" if match.group(1) == "fx_graph" else "aotautograd"
        reason = str(args.get("cache_bypass_reason") or "")
        draft.caches.append(
            CacheEvent(cache, match.group(2), _compile_id(draft, event), str(args.get("key") or ""), reason[:2000])
        )


def _thread(event: dict[str, Any]) -> int:
    thread = event.get("tid")
    return thread if isinstance(thread, int) else 0


def _compile_id(draft: ReportDraft, event: dict[str, Any]) -> str:
    return draft.unique_id(_logged_id(event))


def _logged_id(event: dict[str, Any]) -> str:
    args = event.get("args")
    name = str(args.get("compile_id") or "") if isinstance(args, dict) else ""
    return "" if name == "None" else name


def metrics(kind: MetricsKind, parse: Parser | None = None) -> Parser:
    """Return a parser that adds the place of torch's metrics, after what `parse` takes from them."""

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
    cache = "fx_graph" if match.group(1) == "fx_graph" else "aotautograd"
    logged = CacheEvent(
        cache,
        match.group(2),
        record.compile_id,
        str(data.get("key") or data.get("cache_key") or ""),
        str(data.get("cache_bypass_reason") or "")[:2000],
    )
    same = [event for event in draft.caches if (event.cache, event.outcome, event.compilation) == logged.identity]
    if not same:
        draft.caches.append(logged)
