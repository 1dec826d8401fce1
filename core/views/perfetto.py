"""A run as a trace that ui.perfetto.dev and chrome://tracing open: phases, kernels and memory.

The format is Chrome's trace event JSON: complete events (`X`) and counters (`C`), with times in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from core.analysis.kernels import measured_seconds
from core.report import Report
from core.report.measurements import MemoryUse

COMPILING, KERNELS, MEMORY = 1, 2, 3
PROCESSES = {
    COMPILING: "torch.compile: phases",
    KERNELS: "kernels, each call's measured time, one after another",
    MEMORY: "memory of one call",
}


def perfetto_trace(report: Report) -> bytes:
    """Return the run as JSON; what was not recorded is not in it."""
    events = [*_phases(report), *_kernels(report), *_memory(report)]
    used = {event["pid"] for event in events}
    names = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in PROCESSES.items()
        if pid in used
    ]
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": [*names, *events]})


def _event(name: str, pid: int, tid: int, start_us: float, length_us: float, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": start_us, "dur": length_us, "args": args}


def _phases(report: Report) -> Iterator[dict[str, Any]]:
    origin_us = min((phase.start_us for phase in report.phases), default=0.0)
    for phase in report.phases:
        if phase.end_us is not None:
            start_us, length_us = phase.start_us - origin_us, phase.end_us - phase.start_us
            yield _event(phase.name, COMPILING, phase.thread, start_us, length_us, compilation=phase.compilation)


def _kernels(report: Report) -> Iterator[dict[str, Any]]:
    """Yield a slice for each kernel of each compilation, a compilation after the other."""
    at_us = 0.0
    for compilation in report.compilations:
        seconds_of = measured_seconds(compilation)
        for kernel in compilation.kernels:
            length_us = seconds_of.get(kernel.id, 0.0) * 1e6
            if length_us:
                nodes = ", ".join(kernel.origins)
                yield _event(kernel.name, KERNELS, 0, at_us, length_us, compilation=compilation.id, nodes=nodes)
                at_us += length_us


def _memory(report: Report) -> Iterator[dict[str, Any]]:
    for use in report.memory:
        yield from _curve(use)


def _curve(use: MemoryUse) -> Iterator[dict[str, Any]]:
    for at_us, live_bytes in zip(use.curve.at_us, use.curve.live_bytes, strict=False):
        yield {"ph": "C", "name": use.side, "pid": MEMORY, "tid": 0, "ts": at_us, "args": {"bytes": live_bytes}}
