"""Parsers of Chromium events: phases of compilation, cache hits and misses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from core.report import CacheEvent, Phase
from core.trace import TraceRecord
from core.trace.parsers.draft import MAX_ITEMS, ReportDraft

CACHE = re.compile(r"^(fx_graph|autograd|aotautograd|aot_autograd)_cache_(hit|miss|bypass|disabled)$")

# The first phase of a compilation.
DYNAMO = "dynamo"
MAX_TIME_US = 1e18


@dataclass(slots=True)
class _Event:
    """A Chromium event; the types of its fields are not known."""

    name: Any = ""
    ts: Any = None
    ph: Any = None
    tid: Any = None
    args: Any = None

    @property
    def logged_id(self) -> str:
        """Compile id as torch logs it; empty if there is none."""
        name = str(self.args.get("compile_id") or "") if isinstance(self.args, dict) else ""
        return "" if name == "None" else name


def _of_header(body: Any) -> _Event | None:
    fields = {name: body.get(name) for name in ("ts", "ph", "tid", "args")} if isinstance(body, dict) else {}
    return _Event(body.get("name", ""), **fields) if fields else None


def chromium_event(draft: ReportDraft, record: TraceRecord) -> None:
    """Read the start (B) or end (E) of a phase, or an instant (i)."""
    event = draft.reader.json_as(record, _Event) if record.length else _of_header(record.body)
    if event is None or not isinstance(event.ts, (int, float)) or abs(event.ts) > MAX_TIME_US:
        return
    if event.ph == "B":
        _begin(draft, event)
    elif event.ph == "E":
        _end(draft, event)
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
    """Return True if an event is from another thread: another thread id, or no compile id in a compilation."""
    unnamed = isinstance(event.args, dict) and event.args.get("compile_id") == "None"
    return bool(_thread(event) or (around and unnamed))


def _free_thread(draft: ReportDraft) -> int:
    busy = {draft.phases[index].thread for index in draft.open_beside}
    return next(number for number in range(1, len(busy) + 2) if number not in busy)


def _end(draft: ReportDraft, event: _Event) -> None:
    """Close the innermost phase of that name; unclosed phases inside it end with it.

    Of equal phases in other threads, the oldest is closed: torch does not log which one ended, and their sum is the
    same.
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


def _instant(draft: ReportDraft, event: _Event) -> None:
    match = CACHE.match(str(event.name))
    if match and len(draft.caches) < MAX_ITEMS:
        args = event.args if isinstance(event.args, dict) else {}
        cache = "fx_graph" if match.group(1) == "fx_graph" else "aotautograd"
        reason = str(args.get("cache_bypass_reason") or "")
        draft.caches.append(
            CacheEvent(cache, match.group(2), _compile_id(draft, event), str(args.get("key") or ""), reason[:2000])
        )


def _thread(event: _Event) -> int:
    return event.tid if isinstance(event.tid, int) else 0


def _compile_id(draft: ReportDraft, event: _Event) -> str:
    return draft.unique_id(event.logged_id)


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
    if all(event.identity != logged.identity for event in draft.caches):
        draft.caches.append(logged)
