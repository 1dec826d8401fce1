"""Compileboard's additions to PyTorch's structured trace.

Every addition is an `artifact` record named `compileboard_<what>` whose payload is JSON with a `schema` number, written
by `torch._logging.trace_structured`. So tlparse can read our logs, and our reader needs only one format.
`core/report/records/` declares the records.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
import torch._inductor.metrics
import torch._logging._internal as torch_logging
from torch._dynamo.utils import counters
from torch._logging import trace_structured

from core.report.records import RECORDS, SCHEMA, Record
from core.report.records.run import StepRecord

NAMES = {kind: f"compileboard_{what}" for what, kind in RECORDS.items()}


def emit(record: Record) -> None:
    """Write one artifact; inside a compilation it carries the compile id."""
    inside = torch._guards.CompileContext.current_compile_id() is not None
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": NAMES[type(record)], "encoding": "json"},
        payload_fn=lambda: as_json_lines(record),
        suppress_context=not inside,
        expect_trace_id=False,
    )


def as_json_lines(record: Record) -> str:
    """Return JSON with one line per field: torch's own format, one line per value, is many times slower."""
    payload = {"schema": SCHEMA, **_fields(record)}
    lines = (f"{json.dumps(name)}: {json.dumps(value, default=_fields)}" for name, value in payload.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def step(name: str) -> None:
    """Record the worker's next step, for the live timeline."""
    emit(StepRecord(name=name))


def start_trace(directory: Path) -> None:
    """Start the log like TORCH_TRACE at import, for a process forked much later."""
    handler = torch_logging.LOG_TRACE_HANDLER
    assert handler is not None
    handler.root_dir = str(directory)
    if handler not in torch_logging.trace_log.handlers:
        torch_logging.trace_log.addHandler(handler)


def is_recorded() -> bool:
    """Return True if compilations are currently written to the log."""
    return torch_logging.LOG_TRACE_HANDLER in torch_logging.trace_log.handlers


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keep compilations inside this context out of the log and of torch's counters."""
    handler = torch_logging.LOG_TRACE_HANDLER
    assert handler is not None
    torch_logging.trace_log.removeHandler(handler)
    counted = {group: Counter(values) for group, values in counters.items()}
    names = vars(torch._inductor.metrics)
    metrics = {name: value for name, value in names.items() if type(value) is int}
    try:
        yield
    finally:
        names.update(metrics)
        counters.clear()
        counters.update(counted)
        torch_logging.trace_log.addHandler(handler)
