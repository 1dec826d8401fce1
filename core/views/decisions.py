"""Inductor's decisions for ops, the options that change them, and torch's estimates of ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from core.analysis.kernels.kernel import FALLBACK, TEMPLATE, kernel_kind, node_op
from core.analysis.work import launch_groups
from core.base import words as fmt
from core.base.decoder import decoded_object
from core.code.output_code import buffers
from core.report import (
    Autotuning,
    Buffer,
    Compilation,
    FxGraph,
    FxNode,
    Kernel,
    Payload,
    Report,
    Schedule,
    SchedulerNode,
    tensor_text,
)
from core.views.blocks import (
    Code,
    Column,
    Data,
    Fold,
    Heading,
    Listing,
    PageBlock,
    Table,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.fusion import FusionView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, prose

KINDS: dict[How, str] = {
    "fused": "in fused kernels",
    "generated": "generated, but not fused by the scheduler",
    "library": "by library calls",
    "template": "by templates",
    "fallback": "by fallbacks to ATen",
    "no kernel": "without a kernel",
}
# Decision → the options of torch._inductor.config that change it.
SWITCHES = {
    "fused": "max_fusion_size, epilogue_fusion",
    "generated": "aggressive_fusion, realize_reads_threshold",
    "library": "max_autotune_gemm, max_autotune_gemm_backends",
    "template": "max_autotune_gemm_backends",
    "fallback": "a lowering of its own; implicit_fallbacks",
    "layout": "layout_optimization, keep_output_stride, comprehensive_padding",
    "reused": "allow_buffer_reuse",
    "in place": "inplace_buffers",
}
CUDA_GRAPH_MODES = ("reduce-overhead", "max-autotune")
NO_CUDA_GRAPH = "The job asks for CUDA graphs; none was recorded, and torch logged no reason."
CUDA_GRAPHS_OFF = "CUDA graphs are off: `mode='reduce-overhead'` or the option `triton.cudagraphs` turns them on."


def op_decisions(
    report: Report,
    compilation: Compilation,
    nodes_of: Callable[[FxGraph], tuple[FxNode, ...]],
    read: Callable[[Payload], str],
) -> Iterator[PageBlock]:
    """Yield Inductor's decision for each op of a compilation, and the autotuning of ops."""
    if not compilation.schedules:
        yield from not_recorded(compilation)
        return
    nodes = {node.name: node for graph in compilation.lowered_graphs for node in nodes_of(graph)}
    view = DecisionsView(report, compilation, nodes, read)
    yield Title(spans(view.title))
    yield from paragraph(view.caption, "quiet")
    yield from paragraph(view.cudagraphs)
    yield view.table
    yield Data("decisions", view.decisions)
    if view.chosen:
        yield Heading("Autotuning")
        yield from paragraph("\n".join(f"- {sentence}" for sentence in view.chosen))


def not_recorded(compilation: Compilation | None) -> Iterator[PageBlock]:
    """Yield the page for a compilation without recorded decisions, or for none."""
    yield Title(spans("The decisions of Inductor were not recorded for this compilation"))
    yield from paragraph(FusionView.why_none(compilation))


@dataclass(frozen=True)
class DecisionsView:
    """The decisions of a compilation.

    `nodes` are the nodes of the lowered graphs by name, `read` returns a payload as text.
    """

    report: Report
    compilation: Compilation
    nodes: Mapping[str, FxNode]
    read: Callable[[Payload], str]

    @cached_property
    def decisions(self) -> tuple[OpDecision, ...]:
        """The decision for each op, in order."""
        return decisions(self.report, self.compilation, self.nodes, self.read)

    @property
    def table(self) -> Table[OpDecision]:
        return Table("decisions", DECISIONS, self.decisions, link=lambda decision: f"n:{decision.node}")

    @property
    def title(self) -> str:
        """Number of ops for each kind of computation: fused, library call, template …"""
        counts = Counter(decision.how for decision in self.decisions)
        if set(counts) == {"no kernel"} and self.compilation.kernels:
            return f"{fmt.count(len(self.decisions), 'op')}; which kernel computes each was not recorded"
        parts = [f"{fmt.number(counts[kind])} {words}" for kind, words in KINDS.items() if counts[kind]]
        return f"{fmt.count(len(self.decisions), 'op')}: {'; '.join(parts)}"

    @property
    def caption(self) -> str:
        """Numbers of results that never reach memory, that reuse memory, and that have another layout."""
        stored = [decision for decision in self.decisions if decision.memory not in ("not stored", "in place")]
        kept = [decision for decision in self.decisions if decision.memory == "not stored"]
        saved = sum(decision.bytes or 0 for decision in kept)
        layouts = sum(bool(decision.graph_stride) for decision in self.decisions)
        parts = [
            f"{fmt.count(len(kept), 'result')} ({fmt.bytes_(saved)}) never reach memory" if kept else "",
            f"{fmt.number(sum(decision.memory == 'reused' for decision in stored))} of "
            f"{fmt.count(len(stored), 'stored result')} reuse memory",
            f"{fmt.count(layouts, 'result')} in another layout than the graph's" if layouts else "",
            "code generation put several ops into one kernel, although the scheduler had not fused them"
            if self._shares_launches
            else "",
        ]
        return f"{'; '.join(filter(None, parts))}."

    @property
    def _shares_launches(self) -> bool:
        kernels = {kernel.id: kernel for kernel in self.compilation.kernels}
        return any(_shares_a_launch(each, kernels) for each in self.compilation.schedules if not each.subgraph)

    @property
    def cudagraphs(self) -> str:
        """The run's counts of CUDA graphs, or the reason why there are none.

        Empty if nothing was recorded, the job does not request CUDA graphs, and no node is on a CUDA device.
        """
        counts = self.report.counters.cudagraphs if self.report.counters else {}
        if self.compilation.cudagraph_skip:
            return f"Not a CUDA graph: {prose(self.compilation.cudagraph_skip, LONGEST_LINE)}."
        if counts:
            words = {"warm_ups": "warm-up run", "recordings": "recording", "replays": "replay"}
            named = ", ".join(fmt.count(counts.get(name, 0), word) for name, word in words.items())
            return f"CUDA graphs of this run: {named}."
        if self._asks_for_cudagraphs:
            return NO_CUDA_GRAPH
        devices = {node.device for schedule in self.compilation.schedules for node in schedule.after}
        return CUDA_GRAPHS_OFF if any(device.startswith("cuda") for device in devices) else ""

    @property
    def _asks_for_cudagraphs(self) -> bool:
        """True if the job's mode or options ask for CUDA graphs; a log's job may have any form."""
        call = (self.report.setting.job or {}).get("compile")
        options = call.get("options") if isinstance(call, dict) else None
        asks = isinstance(options, dict) and bool(options.get("triton.cudagraphs"))
        return asks or (isinstance(call, dict) and str(call.get("mode")) in CUDA_GRAPH_MODES)

    @property
    def chosen(self) -> list[str]:
        """The autotuning rounds for ops, each in a sentence as Markdown."""
        rounds = [each for each in self.report.autotuned if each.kind == "choices"]
        return [f"{code(each.name)}: {one_line(_choice_words(each), LONGEST_LINE)}" for each in rounds]


def _layout(decision: OpDecision) -> str:
    layout = decision.layout
    return tensor_text(layout.dtype, layout.shape, layout.stride) if layout else ""


def _graph_stride(decision: OpDecision) -> str:
    return f"[{', '.join(decision.graph_stride)}]" if decision.graph_stride else ""


def _op(decision: OpDecision) -> str:
    return "part of " * decision.is_part + one_line(decision.op.removeprefix("torch.ops."), LONGEST_NAME)


def _how_words(decision: OpDecision) -> str:
    fused = f"fused with {fmt.number(decision.fused_with)} more" if decision.fused_with else decision.how
    how = f"template, {fused}" if decision.how == "template" and decision.fused_with else fused
    return f"{how}, {fmt.number(decision.inlined)} inlined" if decision.inlined else how


def _choice_words(choice: Autotuning | None) -> str:
    """Return the choices of a round with their times, the chosen one first."""
    if choice is None:
        return ""
    times = (
        f"{each.name} {fmt.duration_s(each.time_s)}" if each.time_s is not None else f"{each.name} failed"
        for each in sorted(choice.choices, key=lambda each: not each.chosen)
    )
    return one_line(", ".join(times), LONGEST_LINE)


def _switches(decision: OpDecision) -> str:
    names = [SWITCHES.get(decision.how, ""), SWITCHES["layout"] if decision.graph_stride else ""]
    return "; ".join(filter(None, [*names, SWITCHES.get(decision.memory, "")]))


How = Literal["fused", "generated", "library", "template", "fallback", "no kernel"]
# Inductor's node for one of several results of a library call.
OUTPUT = "MultiOutput"
Memory = Literal["not stored", "allocated", "reused", "returned", "in place"]


@dataclass(frozen=True, slots=True)
class OpDecision:
    """Inductor's decisions for an op (a scheduler node before fusion).

    `is_part` is True if a later scheduler node computes the rest of the same FX node: the op's input was
    copied, or the op has two steps. `inlined` counts the other FX nodes that lowering put into this node.
    `fused_with` counts the other nodes in its `kernel`. `layout` is the node's buffer, None if the node writes
    no buffer; `graph_stride` is the stride of the FX node if it differs from the buffer's. `memory` says how
    the buffer is stored, `reuses` is the buffer whose memory it takes. `choice` is the autotuning round for the
    op.
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
    """Return a decision for each op of the scheduler, in order, without those of subgraphs."""
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


def _shares_a_launch(schedule: Schedule, kernels: Mapping[str, Kernel]) -> bool:
    """Return True if a launch computes several ops that C++ code generation grouped, not the scheduler."""
    nodes = [node for node in schedule.after if _how(kernels.get(node.kernel), node) == "generated"]
    unfused = {name for node in nodes for name in node.nodes}
    return any(len(unfused.intersection(launch)) > 1 for launch in launch_groups(schedule, kernels))


def _memory(layout: Buffer | None, how: How, stored: set[str], reused: Mapping[str, str]) -> Memory:
    """Return how a result is stored; a library call or a fallback allocates a separate buffer."""
    if layout is None:
        return "in place"
    if layout.name in reused:
        return "reused"
    if layout.output:
        return "returned"
    return "allocated" if layout.name in stored or how in ("library", "fallback") else "not stored"


def _other_stride(layout: Buffer | None, node: FxNode | None) -> tuple[str, ...]:
    """Return the other stride of an FX node with the buffer's shape, if it counts; or empty."""
    if layout is None or node is None or node.meta is None or node.meta.shape != layout.shape:
        return ()
    pairs = zip(layout.shape, layout.stride, node.meta.stride, strict=False)
    differs = any(size != "1" and ours != theirs for size, ours, theirs in pairs)
    return node.meta.stride if differs else ()


def _codes(compilation: Compilation, schedule: Schedule) -> set[Payload]:
    return {kernel.output_code for kernel in compilation.kernels if kernel.direction == schedule.direction}


def _choice(report: Report, node: SchedulerNode) -> Autotuning | None:
    """Return the autotuning round of a node's op; None unless exactly one round has the op."""
    ops = {node_op(origin) for origin in node.origins}
    rounds = [each for each in report.autotuned if each.kind == "choices" and each.name in ops]
    return rounds[0] if len(rounds) == 1 else None


MOST_ESTIMATES = 2_000  #: limit: ops with torch's estimate in a table
MOST_OUTPUTS = 8  #: results of an op with torch's estimate
ESTIMATES_HELP = (
    "The scheduler's own estimate of each op, which it uses to order ops and collectives (overlap of communication "
    "and compute); no measurement."
)


def estimates(compilation: Compilation, read: Callable[[Payload], str]) -> Iterator[Fold]:
    """Yield torch's estimates of ops, and the collective calls in order, unless torch logged neither."""
    logged = [decoded_object(read(estimates.text)).get("ops") for estimates in compilation.estimates]
    ops = [op for ops in logged if isinstance(ops, list) for op in ops if isinstance(op, dict)]
    collectives = [one_line(name, LONGEST_LINE) for schedule in compilation.collectives for name in schedule.names]
    seconds = sum(map(_estimate_s, ops))
    words = [f"{fmt.count(len(ops), 'op')}, {fmt.duration_s(seconds)} by torch's estimate"] if ops else []
    words += [f"{fmt.count(len(collectives), 'collective call')} in order"] if collectives else []
    blocks: list[PageBlock] = [*paragraph(ESTIMATES_HELP, "quiet")]
    if ops:
        blocks.append(Table("torch's estimates", ESTIMATES, ops[:MOST_ESTIMATES]))
    if collectives:
        blocks.append(Listing("Collectives", Code("\n".join(collectives), "text"), is_open=True))
    yield from folded("; ".join(words), blocks if words else [])


def _estimate_s(op: dict[str, Any]) -> float:
    value = op.get("estimated_runtime_ns")
    return float(value) / 1e9 if isinstance(value, (int, float)) else 0.0


def _results(outputs: Any) -> str:
    tensors = (
        [output for output in outputs[:MOST_OUTPUTS] if isinstance(output, dict) and output.get("dtype")]
        if isinstance(outputs, list)
        else []
    )
    return one_line(", ".join(map(_tensor, tensors)), LONGEST_LINE)


def _tensor(output: dict[str, Any]) -> str:
    shape, stride = output.get("shape"), output.get("stride")
    return tensor_text(
        str(output["dtype"]),
        shape if isinstance(shape, list) else (),
        stride if isinstance(stride, list) else None,
    )


ESTIMATES: tuple[Column[dict[str, Any]], ...] = (
    Column("op", lambda op: one_line(str(op.get("name", "")), LONGEST_LINE)),
    Column("kind", lambda op: one_line(str(op.get("type", "")), LONGEST_LINE)),
    Column("estimate", _estimate_s, fmt.duration_s),
    Column("results", lambda op: _results(op.get("outputs"))),
)
DECISIONS: tuple[Column[OpDecision], ...] = (
    Column("node", lambda decision: one_line(decision.node, LONGEST_NAME)),
    Column("op", _op),
    Column("computed", _how_words),
    Column("result", _layout),
    Column("stride in the graph", _graph_stride),
    Column("memory", lambda decision: f"reuses {decision.reuses}" if decision.memory == "reused" else decision.memory),
    Column("bytes", lambda decision: decision.bytes, fmt.bytes_),
    Column("choices", lambda decision: _choice_words(decision.choice)),
    Column("kernel", lambda decision: one_line(decision.kernel, LONGEST_NAME)),
    Column("options", _switches, help="Of torch._inductor.config; *Options* has torch's comment on each"),
)
