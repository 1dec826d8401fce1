"""Kernels with the facts of all their records, joined once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.base.decoder import decoded
from core.report import Autotuning, Kernel, KernelCall, KernelTime, Schedule, SchedulerNode
from core.report.schedule import Direction
from core.trace.parsers.draft import CompilationDraft


def join_kernels(
    compilation: CompilationDraft, tried: Mapping[str, Autotuning]
) -> tuple[tuple[Schedule, ...], tuple[Kernel, ...]]:
    """Return the schedules whose nodes know their kernel, and the kernels with all their facts; `tried` is by kernel
    name.
    """
    owner = {(kernel.direction, node): kernel.id for kernel in compilation.kernels for node in kernel.nodes}
    schedules = tuple(_with_kernels(schedule, owner) for schedule in compilation.schedules)
    parts: dict[str, list[SchedulerNode]] = {}
    for schedule in schedules:
        for node in schedule.after:
            parts.setdefault(node.kernel, []).append(node)
    counted = all(schedule.one_count for schedule in schedules)
    compile_s = _compile_times(compilation.metrics)
    kernels = (
        replace(
            _with_sums(kernel, parts.get(kernel.id, []), counted),
            calls=_with_times(kernel, compilation.times),
            binary=compilation.binaries.get((kernel.name, kernel.direction)),
            tried=tried.get(kernel.name),
            compile_s=compile_s.get(kernel.name),
        )
        for kernel in compilation.kernels
    )
    return schedules, tuple(kernels)


def _with_times(kernel: Kernel, times: Mapping[tuple[int, int], KernelTime]) -> tuple[KernelCall, ...]:
    return tuple(replace(call, time=times.get((kernel.output_code.offset, call.line))) for call in kernel.calls)


def _compile_times(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of Triton's compilation by kernel: torch's metrics hold the longest, as JSON within JSON."""
    try:
        times = decoded(str(metrics.get("triton_kernel_compile_times_us") or "[]"))
        return {str(name): float(micros) / 1e6 for name, micros in times}
    except (ValueError, TypeError):
        return {}


def _with_kernels(schedule: Schedule, owner: Mapping[tuple[Direction, str], str]) -> Schedule:
    def owned(node: SchedulerNode) -> SchedulerNode:
        kernels = [owner[key] for name in (node.name, *node.nodes) if (key := (schedule.direction, name)) in owner]
        return replace(node, kernel=kernels[0]) if kernels else node

    return replace(
        schedule,
        before=tuple(owned(node) for node in schedule.before),
        after=tuple(owned(node) for node in schedule.after),
    )


def _with_sums(kernel: Kernel, nodes: list[SchedulerNode], counted: bool) -> Kernel:
    if not nodes:
        return kernel
    flops = [node.flops for node in nodes if node.flops is not None]
    return replace(
        kernel,
        origins=kernel.origins or tuple(dict.fromkeys(name for node in nodes for name in node.origins)),
        bytes_read=sum(size for node in nodes for _, size in node.reads) if counted else None,
        bytes_written=sum(size for node in nodes for _, size in node.writes) if counted else None,
        flops=sum(flops) if flops else None,
        at_most=counted and any(node.at_most for node in nodes),
    )
