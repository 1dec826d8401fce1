"""Parsers of FX graphs and of Inductor's records: output code, kernels, provenance.

A graph keeps the position of its text and its op counts. `join_kernels` adds the data of all records to the kernels.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from core.base.decoder import counted, decoded, whole
from core.base.syntax import NOT_READ, TooDenseError
from core.code import output_code
from core.code.output_code import package_kernels
from core.report import (
    AotMetadata,
    Autotuning,
    Collectives,
    Estimates,
    Frame,
    FxGraph,
    FxNode,
    Kernel,
    KernelCall,
    KernelTime,
    KernelTuning,
    Place,
    RepeatedLine,
    Schedule,
    SchedulerNode,
    Stage,
)
from core.report.nodes import Direction
from core.trace.parsers.draft import CompilationDraft, OutputCode, ReportDraft
from core.trace.parsers.fx_text import HEAD_BYTES, cast_weights, is_printed_graph, parse_graphs
from core.trace.reader import TraceRecord

OF_FOLDER = re.compile(r"__\d{1,6}_(forward|backward|inference)_\d{1,6}\.\d{1,6}/output_code\.(?:py|cpp)$")
STACK_LINE = re.compile(r'File "(.*?)", line (\d{1,9}), in (\S+)\n\s*(.*)')
DIRECTIONS: dict[Stage, Direction] = {
    "dynamo_output_graph": "",
    "before_pre_grad_graph": "",
    "after_pre_grad_graph": "",
    "aot_joint_graph": "joint",
    "before_joint_graph": "joint",
    "after_joint_graph": "joint",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": "inference",
    "compiled_autograd_graph_pre_reordering": "",
    "compiled_autograd_graph": "",
    "exported_program": "",
}
# Stages with which a compilation without a compile id begins.
FIRST: tuple[Stage, ...] = ("dynamo_output_graph", "before_pre_grad_graph", "aot_joint_graph", "aot_inference_graph")
# Kinds of records with a graph, and the graph's stage.
GRAPH_STAGES: dict[str, Stage] = {
    "dynamo_output_graph": "dynamo_output_graph",
    "artifact:before_pre_grad_graph": "before_pre_grad_graph",
    "artifact:after_pre_grad_graph": "after_pre_grad_graph",
    "artifact:before_joint_graph": "before_joint_graph",
    "artifact:after_joint_graph": "after_joint_graph",
    "aot_joint_graph": "aot_joint_graph",
    "aot_forward_graph": "aot_forward_graph",
    "aot_backward_graph": "aot_backward_graph",
    "aot_inference_graph": "aot_inference_graph",
    "artifact:before_post_grad_graph": "before_post_grad_graph",
    "artifact:inductor_post_grad_graph": "inductor_post_grad_graph",
    "artifact:after_post_grad_graph": "inductor_post_grad_graph",
    "inductor_post_grad_graph": "inductor_post_grad_graph",
    "artifact:compiled_autograd_graph_pre_reordering": "compiled_autograd_graph_pre_reordering",
    "compiled_autograd_graph": "compiled_autograd_graph",
}
# Kinds of records with names of their writer's choice.
DUMPS = ("graph_dump:", "artifact:", "optimize_ddp_split_")
MOST_NAME_CHARS = 200  #: characters of the name of a dumped graph, config or collective
# Names of the config in torch's record of a Triton kernel.
CONFIGS = ("best_config", "only_config", "coordesc_tuning_start_config")
MOST_PAIRS = 40  #: parameters of a kernel's config
MOST_COLLECTIVES = 10_000  #: collective calls of a graph
# Times that Dynamo traces a line before it is called repeated.
LEAST_TIMES = 8
# Calls of a nested compile region, which is compiled once, and of its results.
CALLS_REGION = re.compile(r"invoke_subgraph|^operator\.getitem$")
# The name of parts of several foreach nodes in one kernel.
SEVERAL_NODES = re.compile(r"op\d+(?:_op\d+)+$")
NOT_IN_ID = re.compile(r"[^\w.<>-]+")


def inductor_output_code(draft: ReportDraft, record: TraceRecord) -> None:
    """Read the generated module: its kernels, and the direction of the graphs before it."""
    compilation = draft.compilation(record)
    text = draft.text(record)
    draft.keep_debug_file(record, "output_code.py")
    direction = output_code.direction(text) or _direction_of_file(record)
    compilation.direct(direction)
    graph = next((g.id for g in reversed(compilation.graphs) if g.lowered), "")
    if isinstance(record.body, dict) and record.body.get("filename"):
        code = OutputCode(compilation.id, record.offset, direction)
        draft.output_codes.setdefault(str(record.body["filename"]), code)
    compilation.newest_kernels = len(compilation.kernels)
    found = [
        _kernel(draft, record, compilation, definition, direction, graph)
        for definition in output_code.find_kernels(text)
    ]
    compilation.kernels += _apart(found, text, compilation)


def _apart(kernels: list[Kernel], text: str, compilation: CompilationDraft) -> list[Kernel]:
    """Return the kernels, each with the scheduler nodes whose buffers its calls have as arguments.

    Torch names all nodes of a combination of kernels for each of its kernels.
    """
    claims = Counter(node for kernel in kernels for node in kernel.nodes)
    if not any(claims[node] > 1 for node in claims):
        return kernels
    writes = {
        node.name: {name for name, _ in node.writes} for schedule in compilation.schedules for node in schedule.before
    }
    lines, parts = text.split("\n"), []
    for kernel in kernels:
        calls = [output_code.call_arguments(lines[call.line - 1], 1) for call in kernel.calls]
        named = {name for call in calls for name in output_code.tensor_names(call)}
        own = tuple(node for node in kernel.nodes if claims[node] < 2 or writes.get(node, set()) & named)
        if own and own != kernel.nodes:
            compilation.apart.add(kernel.id)
            parts.append(replace(kernel, nodes=own))
        else:
            parts.append(kernel)
    return parts


def _direction_of_file(record: TraceRecord) -> Direction:
    """Return the direction in the name of a TORCH_COMPILE_DEBUG folder, for code before torch had AOT IDs."""
    match = OF_FOLDER.search(str(record.body.get("filename"))) if isinstance(record.body, dict) else None
    return cast(Direction, match[1]) if match else ""


def _kernel(
    draft: ReportDraft,
    record: TraceRecord,
    compilation: CompilationDraft,
    definition: output_code.FoundKernel,
    direction: Direction,
    graph: str,
) -> Kernel:
    nodes = [
        name
        for note in compilation.kernel_notes
        if note.direction == direction and _belongs(note.name, note.handle, definition)
        for name in note.nodes
    ]
    suffix = f"#{definition.first}" if definition.extern else ""
    kernel_id = f"{compilation.id}.{direction or 'graph'}.{definition.name}{suffix}"
    compilation.handles[kernel_id] = tuple(definition.handles)
    return Kernel(
        id=kernel_id,
        name=definition.name,
        direction=direction,
        language=definition.language,
        extern=definition.extern,
        category=definition.category,
        graph=graph,
        origins=definition.origins,
        nodes=tuple(dict.fromkeys(nodes)),
        lines=(definition.first, definition.last),
        calls=tuple(map(KernelCall, definition.calls)),
        stacks=(),
        output_code=draft.payload(record),
    )


def package_code(draft: ReportDraft, record: TraceRecord) -> None:
    """Read a C++ text of an AOTInductor package, and add the kernels that it defines or calls.

    The text is the code of the wrapper or of kernels.
    """
    compilation = draft.compilation(record)
    compilation.packaged = True
    compilation.direct("inference")
    graph = next((g.id for g in reversed(compilation.graphs) if g.lowered), "")
    for definition in package_kernels(draft.text(record)):
        if not any(kernel.name == definition.name for kernel in compilation.kernels):
            compilation.kernels.append(_kernel(draft, record, compilation, definition, "inference", graph))


def _belongs(name: str, handle: int | None, definition: output_code.FoundKernel) -> bool:
    if definition.extern:
        return handle in definition.handles
    return name == definition.name


def node_mappings(draft: ReportDraft, record: TraceRecord) -> None:
    """Set the FX nodes of each kernel of the newest output code, from torch's provenance tracking."""
    data = draft.reader.json(record)
    if not isinstance(data, dict):
        return
    draft.keep_debug_file(record, "inductor_provenance_tracking_node_mappings.json")
    mapping = {**_lists(data.get("cppCodeToPost")), **_lists(data.get("pyCodeToPost"))}

    def fill(kernel: Kernel, keys: list[str]) -> Kernel:
        origins = (name for key in keys for name in mapping.get(key, ()))
        calls = kernel.calls
        if len(calls) == len(keys):
            # The handles of a kernel count its calls in the wrapper's order.
            ordered = sorted(keys, key=_handle)
            pairs = zip(calls, ordered, strict=True)
            calls = tuple(replace(call, origins=tuple(dict.fromkeys(mapping[key]))) for call, key in pairs)
        return replace(kernel, calls=calls, origins=tuple(dict.fromkeys(origins)))

    _fill(draft, record, fill, list(mapping))


def _handle(key: str) -> int:
    """Return the debug handle of a key `name:handle`; 0 without one."""
    handle = key.rpartition(":")[2]
    return whole(handle) if handle.isdecimal() else 0


def post_grad_nodes(draft: ReportDraft, record: TraceRecord) -> None:
    """Set the FX nodes of each Triton kernel, from a record that older torch versions write."""
    nodes = _lists(draft.reader.json(record))

    def fill(kernel: Kernel, keys: list[str]) -> Kernel:
        origins = (name for key in keys for name in nodes[key])
        return replace(kernel, origins=tuple(dict.fromkeys(origins)) or kernel.origins)

    _fill(draft, record, fill, list(nodes))


def kernel_stack_traces(draft: ReportDraft, record: TraceRecord) -> None:
    """Set the user's lines for each kernel of the newest output code."""
    data = draft.reader.json(record)
    if not isinstance(data, dict):
        return
    stacks = _lists(data)

    def fill(kernel: Kernel, keys: list[str]) -> Kernel:
        return replace(kernel, stacks=_frames([text for key in keys for text in stacks.get(key, ())]))

    _fill(draft, record, fill, list(stacks))


def kernel_info(draft: ReportDraft, record: TraceRecord) -> None:
    """Set torch's config choice and the compile time of each Triton kernel of the newest output code."""
    data = draft.reader.json(record)
    if not isinstance(data, dict):
        return
    compilation = draft.compilation(record)
    first = min(compilation.newest_kernels, len(compilation.kernels))
    for index, kernel in enumerate(compilation.kernels[first:], first):
        info = data.get(kernel.name)
        if isinstance(info, dict) and not kernel.extern:
            micros = counted(info.get("compile_time_us"))
            seconds = kernel.compile_s if micros is None else micros / 1e6
            compilation.kernels[index] = replace(kernel, tuning=_tuning(info), compile_s=seconds)


def _tuning(info: Mapping[str, Any]) -> KernelTuning | None:
    state = info.get("autotune_cache_state")
    if not isinstance(state, str):
        return None
    config: list[Any] = next((info[name] for name in CONFIGS if isinstance(info.get(name), list)), [])
    pairs = [f"{pair[0]}: {pair[1]}" for pair in config[:MOST_PAIRS] if isinstance(pair, list) and len(pair) == 2]
    text = ", ".join(pairs)[:MOST_NAME_CHARS]
    return KernelTuning(
        state[:MOST_NAME_CHARS], counted(info.get("num_configs")), text, bool(info.get("coordesc_tuning"))
    )


def aot_metadata(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the place of AOTAutograd's metadata."""
    draft.keep(record, AotMetadata(draft.payload(record)))


def estimates(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the place of the scheduler's estimates."""
    draft.keep(record, Estimates(draft.payload(record)))


def collectives(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the collective calls of a graph; raises ValueError if the record is not a list."""
    names = draft.reader.json(record)
    if not isinstance(names, list):
        raise ValueError("the schedule of collectives is a list")
    draft.keep(record, Collectives(tuple(str(name)[:MOST_NAME_CHARS] for name in names[:MOST_COLLECTIVES])))


def _fill(
    draft: ReportDraft, record: TraceRecord, fill: Callable[[Kernel, list[str]], Kernel], keys: list[str]
) -> None:
    """Apply `fill` to the newest kernels, each with its keys: `name:handle`, or `name` without handles.

    A generated kernel gets all keys of its name. In output code, each call of an extern function is a separate kernel,
    which gets the keys of its debug handles. In a package, all calls of an extern function are one kernel, which gets
    all keys of its name.
    """
    compilation = draft.compilation(record)
    if compilation.newest_kernels == len(compilation.kernels):
        draft.unplaced(record)
    by_name: dict[str, list[str]] = {}
    by_handle: dict[int, str] = {}
    for key in keys:
        name, _, handle = key.rpartition(":")
        by_name.setdefault(name if handle.isdecimal() else key, []).append(key)
        if handle.isdecimal():
            by_handle[whole(handle)] = key
    for index in range(compilation.newest_kernels, len(compilation.kernels)):
        kernel = compilation.kernels[index]
        mine = by_name.get(kernel.name, [])
        if kernel.extern and not compilation.packaged:
            handles = compilation.handles.get(kernel.id, ())
            mine = [by_handle[handle] for handle in handles if handle in by_handle]
        compilation.kernels[index] = fill(kernel, mine)


def _lists(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {str(key): [str(name) for name in items] for key, items in value.items() if isinstance(items, list)}


def _frames(texts: list[str]) -> tuple[Frame, ...]:
    frames = [
        Frame(file, int(line), name, code.strip())
        for text in texts
        for file, line, name, code in STACK_LINE.findall(text)
    ]
    return tuple(dict.fromkeys(frames))


def fx_graph(stage: Stage) -> Callable[[ReportDraft, TraceRecord], None]:
    """Return the parser for one stage.

    Stages after AOTAutograd get their direction from the output code after them.
    """

    def parse(draft: ReportDraft, record: TraceRecord) -> None:
        if not record.compile_id and stage in FIRST:
            draft.begin_root()
        compilation = draft.compilation(record)
        direction = DIRECTIONS.get(stage)
        if direction is None:
            compilation.undirected.append(len(compilation.graphs))
        counts = count_nodes(draft, record)
        if _is_twice(compilation, stage, record.attempt, counts.targets):
            compilation.undirected.pop()
            return
        graph_id = compilation.fresh_id(stage, direction or "")
        graph = FxGraph(graph_id, stage, direction or "", record.attempt, draft.payload(record), *counts[:2])
        if stage == "dynamo_output_graph":
            graph = replace(graph, repeated=_repeated_line(counts.nodes), cast=cast_weights(counts.nodes))
        compilation.graphs.append(graph)

    return parse


def is_dumped_graph(draft: ReportDraft, record: TraceRecord) -> bool:
    """Return True for a record of any name whose payload begins like a printed graph."""
    if not record.md5 or not record.kind.startswith(DUMPS):
        return False
    return is_printed_graph(draft.reader.text(record.offset, min(record.length, HEAD_BYTES)))


def dumped_graph(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a printed graph under its logged name."""
    compilation = draft.compilation(record)
    logged = record.body.get("name") if isinstance(record.body, dict) else None
    name = str(logged or record.kind)[:MOST_NAME_CHARS]
    counts = count_nodes(draft, record)
    graph_id = compilation.free_id(NOT_IN_ID.sub("_", name))
    payload = draft.payload(record)
    graph = FxGraph(graph_id, "dumped", "", record.attempt, payload, counts.ops, counts.targets, name)
    compilation.graphs.append(graph)


def _is_twice(compilation: CompilationDraft, stage: Stage, attempt: int, targets: dict[str, int]) -> bool:
    """Return True if the graph was logged before: Inductor's input may have two names."""
    if stage != "inductor_post_grad_graph":
        return False
    graphs = [compilation.graphs[index] for index in compilation.undirected[:-1]]
    return any((graph.stage, graph.attempt, graph.targets) == (stage, attempt, targets) for graph in graphs)


class NodeCounts(NamedTuple):
    """The outermost graph's nodes by op, the call targets of all graphs, and the outermost graph's nodes."""

    ops: dict[str, int]
    targets: dict[str, int]
    nodes: tuple[FxNode, ...] = ()


def count_nodes(draft: ReportDraft, record: TraceRecord) -> NodeCounts:
    """Count the nodes of the graphs in a record; nothing for a text that is not parsed."""
    try:
        graphs = parse_graphs(draft.text(record))
    except TooDenseError as error:
        draft.problem(f"graph text was not parsed: {error}", record.offset)
        return NodeCounts({}, {})
    except NOT_READ:
        draft.problem("graph text is not Python", record.offset)
        return NodeCounts({}, {})
    targets = Counter(node.target for nodes in graphs for node in nodes if node.op.startswith("call_"))
    outermost = graphs[0] if graphs else ()
    return NodeCounts(dict(Counter(node.op for node in outermost)), dict(targets), outermost)


def _repeated_line(nodes: Sequence[FxNode]) -> RepeatedLine | None:
    """Return the line with the most nodes among those that were traced several times.

    A loop whose body has several lines visits each of them once a round. For a body of one line, the rarest target
    counts the rounds.
    """
    visits: Counter[Place] = Counter()
    targets: dict[Place, Counter[str]] = {}
    before = None
    for node in nodes:
        if node.source is not None and node.op.startswith("call_") and not CALLS_REGION.search(node.target):
            visits[node.source] += node.source != before
            targets.setdefault(node.source, Counter())[node.target] += 1
            before = node.source
    times = {place: max(visits[place], min(counts.values())) for place, counts in targets.items()}
    repeated = {place: targets[place].total() for place, often in times.items() if often >= LEAST_TIMES}
    if not repeated:
        return None
    place = max(repeated, key=lambda place: repeated[place])
    same = [other for other in repeated if (other.file, other.name) == (place.file, place.name)]
    of_loop = [repeated[other] for other in same if times[other] >= times[place]]
    return RepeatedLine(place, times[place], sum(of_loop))


def join_kernels(
    compilation: CompilationDraft, tried: Mapping[str, Autotuning]
) -> tuple[tuple[Schedule, ...], tuple[Kernel, ...]]:
    """Return the schedules with each node's kernel, and the kernels with all data; `tried` is by name."""
    owner = {
        (kernel.direction, part): kernel.id
        for kernel in compilation.kernels
        for node in kernel.nodes
        for part in (node, *(node.split("_") if SEVERAL_NODES.match(node) else ()))
    } | _mixed_owners(compilation)
    schedules = tuple(_with_kernels(schedule, owner) for schedule in compilation.schedules)
    parts: dict[str, list[SchedulerNode]] = {}
    for schedule in schedules:
        for node in schedule.after:
            parts.setdefault(node.kernel, []).append(node)
    counted = all(schedule.one_count for schedule in schedules)
    compile_s = _compile_times(compilation.metrics)
    kernels = (
        replace(
            _with_sums(
                replace(kernel, calls=_with_times(kernel, compilation.times)),
                parts.get(kernel.id, []),
                counted,
                known=kernel.id not in compilation.apart,
            ),
            binary=compilation.binaries.get((kernel.name, kernel.direction)),
            tried=tried.get(kernel.name),
            compile_s=compile_s.get(kernel.name, kernel.compile_s),
        )
        for kernel in compilation.kernels
    )
    return schedules, tuple(kernels)


def _mixed_owners(compilation: CompilationDraft) -> dict[tuple[Direction, str], str]:
    """Return the kernels of nodes that reduce in both orders, by call order: torch records none."""
    made: dict[tuple[Direction, str], str] = {}
    for each in compilation.schedules:
        nodes = [node for node in each.after if node.kind == "FusedMixOrderReductions"]
        alike = (kernel for kernel in compilation.kernels if kernel.direction == each.direction and not kernel.nodes)
        calls = sorted((line, it.id) for it in alike if it.name.startswith("triton_") for line in it.call_lines)
        for node, (_, owner) in zip(nodes, calls if len(calls) == len(nodes) else [], strict=False):
            made |= {(each.direction, part): owner for part in (node.name, *node.nodes)}
    return made


def _with_times(kernel: Kernel, times: Mapping[tuple[int, int], KernelTime]) -> tuple[KernelCall, ...]:
    return tuple(replace(call, time=times.get((kernel.output_code.offset, call.line))) for call in kernel.calls)


def _compile_times(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of Triton's longest compilations by kernel, from torch's metrics."""
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


def _with_sums(kernel: Kernel, nodes: list[SchedulerNode], counted: bool, known: bool) -> Kernel:
    """Return a kernel with the sums of its nodes; FX nodes, too, if they are not known otherwise."""
    if not nodes:
        return kernel
    origins = tuple(dict.fromkeys(name for node in nodes for name in node.origins))
    flops = [node.flops for node in nodes if node.flops is not None]
    return replace(
        kernel,
        origins=(known and kernel.origins) or origins,
        calls=kernel.calls if known else tuple(replace(call, origins=origins) for call in kernel.calls),
        bytes_read=sum(size for node in nodes for _, size in node.reads) if counted else None,
        bytes_written=sum(size for node in nodes for _, size in node.writes) if counted else None,
        flops=sum(flops) if flops else None,
        at_most=counted and any(node.at_most for node in nodes),
    )
