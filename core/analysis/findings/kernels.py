"""Findings about kernels: roofline, fallbacks, copies, unexpected dtypes, missed fusions.

A missed fusion is a pair of kernels that share bytes and that the scheduler refused to fuse.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from core.analysis.findings.calls import weights_cast
from core.analysis.findings.finding import Finding, Rule, RunFacts
from core.analysis.interval import busy
from core.analysis.kernels.kernel import kernels_disturbed, node_op, uneven_repeats
from core.analysis.kernels.ledger import TF32, LedgerRow, ceilings, product_dtype
from core.analysis.repairs.source import Proposal
from core.analysis.work import dynamo_graphs, frame_of, newest_compilations, reasons_between, refused_pairs
from core.base.words import agree, bytes_, count, duration_s, kernel_share, percent
from core.ops.costs import op_class
from core.report import Compilation, Report, Schedule, SchedulerNode, module_path

PRODUCTS = frozenset({"matmul", "attention"})
# Ops that only copy; casts, fills, concatenations and pads move data for another reason.
COPIES = frozenset({"clone", "copy", "copy_"})
NO_FASTER = "Nothing to gain: bfloat16 matmuls were measured on this device and are no faster."
# Minimum gain of tensor cores for float32 matmuls: twice the FLOP/s. Only used to order findings.
TF32_GAINS = 2
FEWER_BITS = "Lower precision can, if the device supports it: try `torch.autocast` or a bfloat16 model."
TORCH_NAMESPACES = frozenset(
    {
        "aten",
        "prims",
        "prim",
        "mkl",
        "mkldnn",
        "onednn",
        "quantized",
        "inductor",
        "higher_order",
        "c10d",
        "_c10d_functional",
    }
)
FALLBACK = (
    "falls back to ATen",
    "fall back to ATen",
    "Inductor generated no code for `{}`: it calls the ATen kernel, and fuses nothing with it.",
    "If ops that Inductor can generate compute the same, use them: `Embedding` and `mean` instead of `EmbeddingBag`. A "
    "sort, a top-k or an FFT stays a fallback.",
)
LITE = "`mode='lite'` calls ATen for every op that is not marked for Inductor: leave the mode out."
CUSTOM = (
    "is of a custom op",
    "are of custom ops",
    "`{}` is opaque to Inductor: it calls the op as it is, and fuses nothing with it.",
    "Write it with torch ops, or wrap its Triton kernel with `torch.library.triton_op`: then Inductor can see into it.",
)
MOST_OF_IT, NEAR_THE_ROOFLINE, WORTH_A_THOUGHT = 0.5, 0.6, 0.05
CALL, PRODUCT = "scaled_dot_product_", ".bmm."
SOFTMAX = ("softmax", ".exp.")
ADVICE = {
    "cuda": "To see why, call the model eagerly under "
    "`torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION)`: it raises and warns with the "
    "reason. Flash attention takes only float16 and bfloat16; memory-efficient attention needs as many key heads as "
    "query heads.",
    "cpu": "To see why, call the model eagerly under "
    "`torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION)`: it raises and warns with the "
    "reason.",
}
MUCH_OF_THE_TRAFFIC = 0.05
# Start of reasons that no change of the model avoids: fusion would create a cycle, or save nothing.
NO_CHOICE = ("intermediate nodes", "no shared data", "node1 must go", "node1 is", "node2 is", "device mismatch")
CUT, ORDER = (
    ("numel/rnumel mismatch", "nodes numel"),
    ("memory deps did not match", "tiling mismatch", "invalid tiling"),
)
# FX ops that change loop sizes or loop order. If there is none, there is no op to move.
CUTS, REORDERS = ("slice", "constant_pad_nd"), ("permute", "transpose", "t", "clone")
WORK_ON_THE_WHOLE = (
    "They loop over different shapes. If a slice or a pad is between them, compute on the whole tensor and slice last."
)
KEEP_THE_LAYOUT = "They read memory in different orders, as after a transpose: keep one layout in both."
FEWER_REGISTERS = "A fused kernel would spill registers: use smaller tiles or a lower precision."
# From this factor on, computing on the whole tensor writes at least as many bytes as fusion saves.
TOO_LARGE = 2
SEE_BOTH = "The page Fusion shows both, with torch's reasons."


def unlike_times(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if times of equal kernels differ too much for the other findings."""
    unlike = None if busy(facts.report.kernel_load) else uneven_repeats(facts.report)
    if unlike is None:
        return
    yield Finding(
        rule="times not reliable",
        title=f"Kernel times are not reliable: {unlike.words}.",
        reason="Equal work takes equal time, so another process disturbed the timing. No finding uses these times.",
        advice="Measure again on an idle machine.",
        page="kernels",
        compilation=_compilation(facts.report),
        weight="note",
    )


def products_at_the_roofline(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if library matmuls take most of the time and run near the roofline."""
    rows = facts.rows
    products = [row for row in rows if row.language == "extern" and _is_product(row)]
    judged = [row for row in products if row.fraction is not None]
    share, took_s = _share(products, rows), _total_s(judged)
    allowed_s = sum((row.fraction or 0.0) * (row.total_s or 0.0) for row in judged)
    if kernels_disturbed(facts.report) or share < MOST_OF_IT or not took_s or allowed_s < NEAR_THE_ROOFLINE * took_s:
        return
    # A call whose dtypes the library chooses, such as attention, has no dtype here.
    float32 = {row.dtype for row in products} - {""} == {"float32"} and not facts.job.get("dtype")
    reached = percent(allowed_s / took_s)
    faster = float32 and _bfloat16_pays(facts.report)
    if any(tf32(facts)):  # It has the cost of these matmuls.
        return
    yield Finding(
        rule="products at the roofline",
        title=f"Library matmuls take {_share_words(share, rows)} and run at {reached} of the roofline.",
        reason="Fusion can't speed them up: their code is the library's.",
        advice=FEWER_BITS if faster else NO_FASTER if float32 else "Nothing to gain in this dtype.",
        page="kernels",
        compilation=_compilation(facts.report),
        each_s=took_s - allowed_s,
        proposal=Proposal("dtype=bfloat16", job={"dtype": "bfloat16"}) if faster else None,
    )


def _bfloat16_pays(report: Report) -> bool:
    """Return True if bfloat16 matmuls are faster than float32 here, or if either was not measured."""
    limits = ceilings(report)
    peaks = limits.flops_s if limits else {}
    half, single = peaks.get("bfloat16"), peaks.get("float32")
    return half is None or single is None or half > single


def tf32(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for float32 matmuls if the device has TF32 and torch has TF32 off."""
    counters = facts.report.counters
    if counters is None or not counters.has_tf32 or counters.float32_matmul_precision != "highest":
        return
    rows = facts.rows
    products = [row for row in rows if row.dtype == "float32" and {_op_class(op) for op in row.ops} == {"matmul"}]
    # cuDNN's convolutions use TF32 by default, whatever the precision of matrix products.
    products = [row for row in products if product_dtype(row.ops, row.dtype, counters) != TF32]
    share = _share(products, rows)
    if share < WORTH_A_THOUGHT:
        return
    yield Finding(
        rule="TF32 off",
        title=f"TF32 is off, and float32 matmuls take {_share_words(share, rows)}.",
        reason="`torch.get_float32_matmul_precision()` is `highest`, so float32 matmuls do not use the tensor cores.",
        advice="Call `torch.set_float32_matmul_precision('high')` before the first call: inputs are rounded to 10 bits "
        "of mantissa, sums stay float32. `torch.autocast` or a bfloat16 model also halves the bytes.",
        page="kernels",
        compilation=_compilation(facts.report),
        item=max(products, key=lambda row: row.total_s or 0.0).kernel,
        each_s=_total_s(products) * (1 - 1 / TF32_GAINS),
        proposal=Proposal("dtype=bfloat16", job={"dtype": "bfloat16"})
        if not facts.job.get("dtype") and _bfloat16_pays(facts.report)
        else None,
    )


def fallbacks(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for ops without kernels from Inductor: ATen fallbacks and custom ops.

    Matmuls and attention do not count, since a library call is their normal kernel.
    """
    rows = facts.rows
    named = [row for row in rows if row.language == "extern" and row.name.startswith(("aten.", "torch.ops."))]
    calls = [row for row in named if not _is_product(row)]
    custom = [row for row in calls if _is_custom(row)]
    yield from _fallback_findings(facts, [row for row in calls if row not in custom], FALLBACK)
    yield from _fallback_findings(facts, custom, CUSTOM)


def _fallback_findings(
    facts: RunFacts, calls: Sequence[LedgerRow], words: tuple[str, str, str, str]
) -> Iterator[Finding]:
    share = _share(calls, facts.rows)
    if share < WORTH_A_THOUGHT:
        return
    singular, plural, reason, advice = words
    lite = words is FALLBACK and facts.options.get("mode") == "lite"
    longest = max(calls, key=lambda row: row.total_s or 0.0)
    yield Finding(
        rule="fallbacks",
        title=f"{count(len(calls), 'kernel launch', 'kernel launches')} {agree(len(calls), singular, plural)}: "
        f"{_share_words(share, facts.rows)}.",
        reason=reason.format(longest.name),
        advice=LITE if lite else advice,
        proposal=Proposal("torch.compile(model)", compile={"mode": None}) if lite else None,
        page="kernels",
        compilation=_compilation(facts.report),
        item=longest.kernel,
        each_s=_total_s(calls),
    )


def _is_custom(row: LedgerRow) -> bool:
    """Return True if the op's namespace is not torch's own."""
    parts = row.name.split(".")
    return parts[:2] == ["torch", "ops"] and parts[2:3] != [] and parts[2] not in TORCH_NAMESPACES


def copies(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for generated kernels that only move data."""
    yield from _generated_findings(
        facts,
        "copies",
        _only_copies,
        ("only copies or changes a layout", "only copy or change a layout"),
        "Removing a `.contiguous()` avoids a copy only if no library call reads the result: `bmm` and convolutions "
        "copy other layouts. `scaled_dot_product_attention` takes transposed heads without a copy. For convolutions, "
        "use `channels_last` for model and inputs.",
    )


def doubles(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for float64 kernels that nobody requested."""
    if facts.job.get("dtype") == "float64":
        return
    yield from _generated_findings(
        facts,
        "float64",
        lambda row: row.dtype == "float64",
        ("computes in float64", "compute in float64"),
        "A NumPy array or a `torch.float64` tensor promotes every result to float64: convert it to the model's dtype. "
        "If the model itself is float64, call `model.float()` and pass float32 inputs.",
    )


def weights_converted(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for kernels that write a weight in another dtype at each call of an inference."""
    yield from weights_cast(facts)
    newest = newest_compilations(facts.report)
    converted = [weight for compilation in newest for weight in _converted_weights(compilation)]
    schedules = [schedule for compilation in newest for schedule in compilation.schedules]
    traffic = sum(node.bytes_accessed for schedule in schedules for node in schedule.after) or 1
    share = sum(weight.stored_bytes + weight.written_bytes for weight in converted) / traffic
    if share < MUCH_OF_THE_TRAFFIC:
        return
    rows = [row for row in facts.rows if row.kernel in {weight.kernel for weight in converted}]
    largest = max(converted, key=lambda weight: weight.stored_bytes)
    advice, proposal = _weight_advice(facts, converted, largest)
    yield Finding(
        rule="weights converted",
        title=f"{count(len(converted), 'parameter or buffer', 'parameters and buffers')} "
        f"{agree(len(converted), 'is', 'are')} converted at each call: {percent(share)} of the memory traffic.",
        reason=f"For example `{largest.name}`, {bytes_(largest.stored_bytes)} of {largest.stored}, is written as "
        f"{bytes_(largest.written_bytes)} of {largest.written}, and read again.",
        advice=advice,
        page="kernels",
        compilation=_compilation(facts.report),
        item=largest.kernel,
        each_s=_total_s(rows),
        proposal=proposal,
        weight="cost" if rows else "note",
    )


@dataclass(frozen=True, slots=True)
class ConvertedWeight:
    """A parameter or buffer that a kernel writes in another dtype, named by its dtype and shape."""

    name: str
    kernel: str
    stored: str
    written: str
    stored_bytes: int
    written_bytes: int


def _converted_weights(compilation: Compilation) -> Iterator[ConvertedWeight]:
    matches = (WEIGHT_GUARD.search(guard.expression) for guard in compilation.guards)
    names = {(found["dtype"], found["shape"]): found["source"] for found in reversed([*filter(None, matches)])}
    for schedule in (schedule for schedule in compilation.schedules if schedule.direction == "inference"):
        buffers = {buffer.name: buffer for buffer in schedule.buffers}
        for node in schedule.after:
            ops = {node_op(origin) for origin in node.origins}
            if ops.isdisjoint(CONVERTS) or any(_op_class(op) in PRODUCTS for op in ops):
                continue
            reads = [(buffers[name], size) for name, size in node.reads if name in buffers and buffers[name].input]
            writes = [(buffers[name], size) for name, size in node.writes if name in buffers]
            for (read, read_bytes), (write, write_bytes) in product(reads, writes):
                source = names.get((read.dtype, ", ".join(read.shape)), "")
                if source and read.dtype != write.dtype and sorted(read.shape) == sorted(write.shape):
                    name = ".".join(module_path(OWNER.sub("", source))[1:])
                    yield ConvertedWeight(name, node.kernel, read.dtype, write.dtype, read_bytes, write_bytes)


def _weight_advice(
    facts: RunFacts, converted: Sequence[ConvertedWeight], largest: ConvertedWeight
) -> tuple[str, Proposal | None]:
    """Return the advice for weights that are converted at each call, in words and as a job."""
    stored, written = sum(one.stored_bytes for one in converted), sum(one.written_bytes for one in converted)
    once = CONVERT_ONCE.format(stored=bytes_(stored), written=bytes_(written))
    inputs = facts.report.calls[0].inputs if facts.report.calls else ""
    if facts.on_cpu and largest.stored == "int8" and largest.written == "bfloat16" and TWO_DIMENSIONS.search(inputs):
        return f"{PACKED} {once}", None
    options = facts.options.get("options") or {}
    on_cuda = str(facts.job.get("device", "cpu")).startswith("cuda")
    if on_cuda and ONE_ROW_INPUT.search(inputs) and DESCENT not in options:
        proposal = Proposal(f"options={{'{DESCENT}': True}}", compile={"options": {**options, DESCENT: True}})
        return f"{ONE_ROW} {once}", proposal if not facts.options.get("mode") else None
    return once, None


WEIGHT_GUARD = re.compile(
    r"check_tensor\((?P<source>[^,]*\._(?:parameters|buffers)\['[^',]*'\]), [^\n]*?torch\.(?P<dtype>\w+), "
    r"[^\n]*?size=\[(?P<shape>[\d, ]*)\]"
)
OWNER = re.compile(r"\._(?:parameters|buffers)(?=\[)")
CONVERTS = ("convert_element_type", "_to_copy")
TWO_DIMENSIONS = re.compile(r"\bbf16\[\d+, \d+\]")
ONE_ROW_INPUT = re.compile(r"\[(?:1, )+\d+\]")
DESCENT = "coordinate_descent_tuning"
CONVERT_ONCE = (
    "Convert the weights once, before the first call, if the memory suffices: they take {written} instead of {stored}."
)
PACKED = (
    "Pass the input with three dimensions, `x.unsqueeze(0)`: for a bfloat16 `F.linear(x, weight.to(x.dtype)) * scales` "
    "on a CPU, Inductor then calls `_weight_int8pack_mm`, which reads int8."
)
ONE_ROW = (
    f"With Inductor's option `{DESCENT}=True`, a matmul with a single row is a generated kernel, which converts the "
    "weight as it reads it."
)


def _generated_findings(
    facts: RunFacts, rule: str, is_match: Callable[[LedgerRow], bool], does: tuple[str, str], advice: str
) -> Iterator[Finding]:
    rows = facts.rows
    matches = [row for row in rows if row.language != "extern" and is_match(row)]
    share = _share(matches, rows)
    if share < WORTH_A_THOUGHT:
        return
    longest = max(matches, key=lambda row: row.total_s or 0.0)
    line = f" for `{longest.frames[-1].text}`" if longest.frames and longest.frames[-1].text else ""
    yield Finding(
        rule=rule,
        title=f"{count(len(matches), 'kernel')} {agree(len(matches), *does)}: {_share_words(share, rows)}.",
        reason=f"The longest is `{longest.label}`{line}, with {duration_s(longest.total_s)}.",
        advice=advice,
        page="kernels",
        compilation=_compilation(facts.report),
        item=longest.kernel,
        each_s=_total_s(matches),
    )


def _is_product(row: LedgerRow) -> bool:
    """Return True if a library call is a matmul or attention by its name.

    The call's `ops` do not count, since they include masks and copies.
    """
    return op_class(row.name) in PRODUCTS


def _only_copies(row: LedgerRow) -> bool:
    return bool(row.ops) and all(op in COPIES or _op_class(op) == "view" for op in row.ops)


def _op_class(op: str) -> str:
    return op_class(f"torch.ops.aten.{op}.default")


def _total_s(rows: Sequence[LedgerRow]) -> float:
    return sum(row.total_s or 0.0 for row in rows)


def _share(part: Sequence[LedgerRow], rows: Sequence[LedgerRow]) -> float:
    """Return a part's share of the kernels' time; of predicted times, the least that intervals allow."""
    low, most = _bound_s(part, 0), _bound_s(rows, 1) - _bound_s(part, 1)
    return low / (low + most or 1.0)


def _share_words(share: float, rows: Sequence[LedgerRow]) -> str:
    return kernel_share(share, any(row.range_s for row in rows))


def _bound_s(rows: Sequence[LedgerRow], side: int) -> float:
    return sum(row.range_s[side] * row.calls if row.range_s else row.total_s or 0.0 for row in rows)


def _compilation(report: Report) -> str:
    """Return the compilation with the most kernels, to open the page on."""
    return max(report.compilations, key=lambda compilation: len(compilation.kernels)).id


def decomposed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for attention calls that AOTAutograd decomposed into matmuls and a softmax."""
    newest = {frame_of(compilation): compilation for compilation in facts.report.compilations if compilation.graphs}
    for compilation in newest.values():
        calls = _decomposed_calls(compilation)
        device = str(facts.job.get("device", "cpu")).partition(":")[0]
        if not calls or device not in ADVICE:
            continue
        rows = [row for row in facts.rows if "bmm" in row.name]
        share = _share(rows, facts.rows)
        products = f"; its matmuls alone take {_share_words(share, rows)}" if share else ""
        yield Finding(
            rule="attention decomposed",
            title=f"{count(calls, 'call')} of scaled_dot_product_attention became bmm, softmax and bmm{products}.",
            reason="torch decomposed attention instead of calling a fused kernel. The log does not contain the "
            "condition that the inputs failed.",
            advice=ADVICE[device],
            page="kernels",
            compilation=compilation.id,
            each_s=sum(row.total_s or 0.0 for row in rows),
            weight="cost" if share else "note",
        )


def _decomposed_calls(compilation: Compilation) -> int:
    """Return how many attention calls of Dynamo's graph AOTAutograd decomposed."""
    early = next((graph.targets for graph in dynamo_graphs(compilation)), {})
    late = next((graph.targets for graph in compilation.last_graphs if graph.stage in AOT), {})
    is_decomposed = any(PRODUCT in name for name in late) and any(word in name for name in late for word in SOFTMAX)
    return max(0, _calls(early) - _calls(late)) if is_decomposed else 0


AOT = ("aot_inference_graph", "aot_joint_graph", "aot_forward_graph")


def _calls(targets: Mapping[str, int]) -> int:
    return sum(number for name, number in targets.items() if CALL in name and "backward" not in name)


def missed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for the refused fusion whose two kernels share the most bytes.

    A pair counts only if it shares much of the traffic, and if there is advice for torch's reason.
    """
    newest = {frame_of(compilation): compilation for compilation in facts.report.compilations if compilation.schedules}
    candidates = [
        (shared, reason, pair, schedule, compilation)
        for compilation in newest.values()
        for schedule in compilation.schedules
        for shared, reason, pair in _largest_refusals(schedule)
    ]
    if not candidates:
        return
    shared, reason, pair, schedule, compilation = max(candidates, key=lambda candidate: candidate[0])
    yield _finding(facts.report, shared, reason, pair, schedule, compilation)


def _largest_refusals(schedule: Schedule) -> Iterator[tuple[int, str, tuple[SchedulerNode, SchedulerNode]]]:
    """Take the largest refused pair for which there is advice; yield its shared bytes, reason and nodes.

    Yields nothing if the pair shares too few bytes.
    """
    total = schedule.bytes_after
    for pair, shared in sorted(refused_pairs(schedule).items(), key=lambda entry: -entry[1]):
        if not total or shared < MUCH_OF_THE_TRAFFIC * total:
            return
        first, second = (next(node for node in schedule.after if node.name == name) for name in pair)
        reasons = [reason for _, reason in reasons_between(schedule, first, second)]
        if (
            reasons
            and not any(reason.startswith(NO_CHOICE) for reason in reasons)
            and _advice(reasons[0], first, second)
        ):
            yield shared, reasons[0], (first, second)
            return


def _advice(reason: str, first: SchedulerNode, second: SchedulerNode) -> str:
    """Return the change of the model that lets the two nodes fuse; empty if there is none."""
    origins = {origin.rstrip("0123456789").removesuffix("_") for origin in (*first.origins, *second.origins)}
    if reason.startswith(CUT):
        sizes = sorted((first.iterations or 0, second.iterations or 0))
        cut = sizes[0] < sizes[1] < TOO_LARGE * sizes[0]
        return WORK_ON_THE_WHOLE if cut and not origins.isdisjoint(CUTS) else ""
    if reason.startswith(ORDER):
        return "" if origins.isdisjoint(REORDERS) else KEEP_THE_LAYOUT
    return FEWER_REGISTERS if reason.startswith("register spilling") else SEE_BOTH


def _finding(
    report: Report,
    shared: int,
    reason: str,
    pair: tuple[SchedulerNode, SchedulerNode],
    schedule: Schedule,
    compilation: Compilation,
) -> Finding:
    limits = report.roofline if report.roofline is not None and not report.roofline.disturbed else None
    kernels = {kernel.id: kernel.name for kernel in compilation.kernels}
    names = " and ".join(f"`{kernels.get(node.kernel, node.name)}`" for node in pair)
    graph = f"the {schedule.direction} graph" if schedule.direction else "a graph"
    part = percent(shared / (schedule.bytes_after or 1))
    return Finding(
        rule="missed fusion",
        title=f"Two kernels share {bytes_(shared)} and were not fused: {part} of the memory traffic of {graph}.",
        reason=f"torch refused {names}: `{reason}`.",
        advice=_advice(reason, *pair),
        page="fusion",
        compilation=compilation.id,
        each_s=shared / limits.bandwidth(shared).bytes_s if limits else 0.0,
        weight="cost" if limits else "note",
    )


RULES: tuple[Rule, ...] = (
    unlike_times,
    tf32,
    products_at_the_roofline,
    decomposed,
    fallbacks,
    weights_converted,
    copies,
    doubles,
    missed,
)
