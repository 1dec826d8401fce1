"""Inductor's decisions for each op of a lowered graph: its kernel, the layout and memory of its result, and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from core.analysis.kernels.names import FALLBACK, TEMPLATE, kernel_kind, node_op
from core.code.output_code import buffers
from core.report import Autotuning, Buffer, Compilation, FxNode, Kernel, Payload, Report, Schedule, SchedulerNode

How = Literal["fused", "generated", "library", "template", "fallback", "no kernel"]
# Inductor's node for one of several results of a library call.
OUTPUT = "MultiOutput"
Memory = Literal["not stored", "allocated", "reused", "returned", "in place"]


@dataclass(frozen=True, slots=True)
class OpDecision:
    """Inductor's decisions for an op, a scheduler node before fusion.

    `is_part` is True if a later one computes the rest of the same FX node: the op's input was copied, or it has two
    steps. Lowering has `inlined` other FX nodes in it, and `kernel` computes it with `fused_with` others. `layout` is
    its buffer, None if it writes none, and `graph_stride` the stride of the FX node if it differs. `memory` is what
    became of the buffer, `reuses` the buffer whose memory it takes. `choice` is the autotuning round for its op.
    """

    node: str
    op: str
    is_part: bool
    how: How
    inlined: int
    kernel: str
    fused_with: int
    layout: Buffer | None
    graph_stride: tuple[str, ...]
    memory: Memory
    reuses: str
    bytes: int | None
    choice: Autotuning | None


def decisions(
    report: Report, compilation: Compilation, nodes: Mapping[str, FxNode], read: Callable[[Payload], str]
) -> tuple[OpDecision, ...]:
    """Return a decision for each op that the scheduler has, in order.

    `nodes` are the lowered graph's by name; `read` returns a payload of the log, for the output code.
    """
    return tuple(
        decision
        for schedule in compilation.schedules
        if not schedule.subgraph
        for decision in _of_schedule(report, compilation, schedule, nodes, read)
    )


def _of_schedule(
    report: Report,
    compilation: Compilation,
    schedule: Schedule,
    nodes: Mapping[str, FxNode],
    read: Callable[[Payload], str],
) -> Iterator[OpDecision]:
    kernels = {kernel.id: kernel for kernel in compilation.kernels}
    after = {name: node for node in schedule.after for name in node.nodes}
    layouts = {buffer.name: buffer for buffer in schedule.buffers}
    codes = [buffers(read(code)) for code in _codes(compilation, schedule)]
    reused = {name: old for code in codes for name, old in code.reused.items()}
    stored = {name for code in codes for name in (*code.shapes, *code.reused, *code.items)}
    ops = [node for node in schedule.before if OUTPUT not in node.ops]
    outputs = [node for node in schedule.before if OUTPUT in node.ops]
    results = {read: written for node in reversed(outputs) for read, _ in node.reads for written, _ in node.writes}
    last = {node.origins[-1]: node.name for node in ops if node.origins}
    for node in ops:
        whole = after.get(node.name, node)
        kernel = kernels.get(whole.kernel)
        written = [results.get(name, name) for name, _ in node.writes]
        layout = next((layouts[name] for name in written if name in layouts), None)
        fx_node = nodes.get(node.origins[-1]) if node.origins else None
        how = _how(kernel, whole)
        yield OpDecision(
            node=node.origins[-1] if node.origins else node.name,
            op=fx_node.target if fx_node else node_op(node.origins[-1]) if node.origins else node.kind,
            is_part=bool(node.origins) and last[node.origins[-1]] != node.name,
            how=how,
            inlined=max(0, len(node.origins) - 1),
            kernel=kernel.name if kernel else "",
            fused_with=len(whole.nodes) - 1,
            layout=layout,
            graph_stride=_other_stride(layout, fx_node),
            memory=_memory(layout, how, stored, reused),
            reuses=reused.get(layout.name, "") if layout else "",
            bytes=sum(size for _, size in node.writes) or None,
            choice=_choice(report, node),
        )


def _how(kernel: Kernel | None, whole: SchedulerNode) -> How:
    if kernel is None:
        return "no kernel"
    kind = kernel_kind(kernel, [whole])
    if kind == FALLBACK:
        return "fallback"
    if kernel.extern:
        return "library"
    if kind == TEMPLATE:
        return "template"
    return "fused" if len(whole.nodes) > 1 else "generated"


def _memory(layout: Buffer | None, how: How, stored: set[str], reused: Mapping[str, str]) -> Memory:
    """Return what became of a result; a library or a fallback allocates its own."""
    if layout is None:
        return "in place"
    if layout.name in reused:
        return "reused"
    if layout.output:
        return "returned"
    return "allocated" if layout.name in stored or how in ("library", "fallback") else "not stored"


def _other_stride(layout: Buffer | None, node: FxNode | None) -> tuple[str, ...]:
    """Return the stride of an FX node if its shape is the buffer's and its stride is not.

    The stride of a dimension of size 1 does not count.
    """
    if layout is None or node is None or node.meta is None or node.meta.shape != layout.shape:
        return ()
    pairs = zip(layout.shape, layout.stride, node.meta.stride, strict=False)
    differs = any(size != "1" and ours != theirs for size, ours, theirs in pairs)
    return node.meta.stride if differs else ()


def _codes(compilation: Compilation, schedule: Schedule) -> set[Payload]:
    return {kernel.output_code for kernel in compilation.kernels if kernel.direction == schedule.direction}


def _choice(report: Report, node: SchedulerNode) -> Autotuning | None:
    """Return the autotuning round of a node's op; None without one, or with several of that op."""
    ops = {node_op(origin) for origin in node.origins}
    rounds = [each for each in report.autotuned if each.kind == "choices" and each.name in ops]
    return rounds[0] if len(rounds) == 1 else None
