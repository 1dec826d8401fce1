"""The records that Compileboard's own worker adds: `compileboard_*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from core.decoder import whole
from core.parsers.draft import KernelNote, ReportDraft
from core.report import (
    Buffer,
    Call,
    Counters,
    FusionRound,
    RunError,
    Schedule,
    SchedulerNode,
    Setting,
    Source,
    Timing,
)
from core.report.schedule import Direction
from core.trace import TraceRecord

SCHEMA = 1


def ours(
    parse: Callable[[ReportDraft, TraceRecord, dict[str, Any]], None],
) -> Callable[[ReportDraft, TraceRecord], None]:
    """A parser that gets its payload decoded; another schema, or fields of another type, are counted and skipped."""

    def parse_record(draft: ReportDraft, record: TraceRecord) -> None:
        data = draft.reader.json(record)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            draft.problem("record of another Compileboard version", record.offset)
            return
        parse(draft, record, data)

    return parse_record


def setting(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """What ran where."""
    draft.setting = msgspec.convert(data, Setting)


def torch_version(draft: ReportDraft, record: TraceRecord) -> None:
    """Torch's own record of its version: all that a log from elsewhere says of its origin."""
    data = draft.reader.json(record)
    if isinstance(data, dict) and not draft.setting.torch:
        draft.setting = Setting(torch=str(data.get("pytorch_version", "")))


def source(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """A file of the user's code."""
    draft.sources.append(Source(str(data["path"]), draft.payload(record)))


def step(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """What the worker did next."""
    draft.steps.append(str(data["name"]))


def note(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """Something about how the run was made."""
    draft.notes.append(str(data["text"]))


def call(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """One call, eager and compiled."""
    draft.calls.append(msgspec.convert(_finite(data), Call))


def _finite(data: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity; torch's encoder writes it as a number that Python reads, and the report keeps the largest float."""
    largest = 1.7976931348623157e308
    differences = data.get("differences", [])
    for item in differences:
        for name in ("max_abs", "error"):
            if item.get(name) is not None:
                item[name] = min(float(item[name]), largest)
    return data


def timing(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """Steady-state samples."""
    draft.timing = msgspec.convert(data, Timing)


def counters(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """Torch's own counters."""
    draft.counters = msgspec.convert(data, Counters)


def error(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """What ended the run."""
    draft.error = msgspec.convert(data, RunError, strict=False)


def kernel(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """Which scheduler nodes a kernel was made from."""
    note = KernelNote(
        str(data["name"]), data.get("handle"), tuple(map(str, data.get("nodes", ()))), str(data.get("direction", ""))
    )
    draft.compilation(record).kernel_notes.append(note)


def modules(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """Which nn.Module each node of a graph before the scheduler comes from."""
    draft.compilation(record).modules[str(data["stage"])] = _modules(data)


def _modules(data: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {str(name): (str(path), str(kind)) for name, (path, kind) in data.get("modules", {}).items()}


def schedule(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """The scheduler before and after fusion, with its rounds."""
    draft.compilation(record).schedules.append(
        Schedule(
            graph_id=whole(data["graph_id"]) if data.get("graph_id") is not None else -1,
            direction=msgspec.convert(data["direction"], Direction),
            before=tuple(_node(item) for item in data["nodes_before"]),
            after=tuple(_node(item) for item in data["nodes_after"]),
            rounds=msgspec.convert(data["rounds"], tuple[FusionRound, ...]),
            buffers=tuple(msgspec.convert({"name": name, **item}, Buffer) for name, item in data["buffers"].items()),
            modules=_modules(data),
            subgraph=str(data.get("subgraph", "")),
            one_count=bool(data.get("one_count", False)),
        )
    )


def _node(item: dict[str, Any]) -> SchedulerNode:
    return msgspec.convert(
        {**item, "reads": list(item["reads"].items()), "writes": list(item["writes"].items())}, SchedulerNode
    )
