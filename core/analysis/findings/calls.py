"""Findings of whole calls: whether compiling pays, what a call does outside of its kernels, what the first call is."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.disturbance import kernels_disturbed
from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.kernels import summary
from core.analysis.phases import phase_class, phase_totals
from core.words import count, duration_s, number, percent

MUCH_OUTSIDE = 0.25
MUCH_OF_THE_FIRST_CALL, LONG_S = 0.4, 2.0


def slower(known: Known) -> Iterator[Finding]:
    """A compiled call that takes clearly longer than the eager one."""
    found = known.steady
    if found is None or found.interval is None or not found.slower:
        return
    yield Finding(
        rule="slower than eager",
        title=f"A compiled call takes {duration_s(found.compiled_s)}, an eager one {duration_s(found.eager_s)}.",
        reason=f"Compiled is {number(found.interval.inverse().middle)} times slower once all is compiled.",
        advice="Where no other finding names a reason, the call is too small to pay: run it eagerly, or compile more "
        "around it.",
        page="speedup",
        each_s=found.compiled_s - found.eager_s,
    )


def outside_of_kernels(known: Known) -> Iterator[Finding]:
    """A call that spends much of its time outside of its kernels."""
    report = known.report
    found = summary(report)
    if found is None or not found.call_s or kernels_disturbed(report):
        return
    outside_s = found.call_s - min(max(found.in_place_s, found.kernels_s), found.call_s)
    if outside_s < MUCH_OUTSIDE * found.call_s:
        return
    device = str(known.asked.get("device", "cpu")).partition(":")[0]
    graphs = sum(compilation.status == "ok" for compilation in report.compilations)
    launches = sum(len(kernel.calls) for compilation in report.compilations for kernel in compilation.kernels)
    yield Finding(
        rule="outside of kernels",
        title=f"{percent(outside_s / found.call_s)} of a call, {duration_s(outside_s)}, is not spent in kernels.",
        reason=f"Guards, Python and launches take that, of {count(graphs, 'graph')} with "
        f"{count(launches, 'kernel call')}, whatever the size of the tensors.",
        advice="Larger batches, or fewer graphs, share it among more work"
        + ("; CUDA graphs (`mode='reduce-overhead'`) spare the launches." if device == "cuda" else "."),
        page="kernels",
        each_s=outside_s,
        proposal=Proposal("torch.compile(model, mode='reduce-overhead')", compile={"mode": "reduce-overhead"})
        if device == "cuda"
        else None,
    )


def first_call(known: Known) -> Iterator[Finding]:
    """A compile time of which most goes to one kind of work."""
    whole_s = sum(known.seconds.values())
    if whole_s < LONG_S:
        return
    totals = phase_totals(known.report.phases)
    by_class: dict[str, float] = {}
    for total in totals:
        kind = phase_class(total.name)
        by_class[kind] = by_class.get(kind, 0.0) + total.self_s
    kind, most_s = max(by_class.items(), key=lambda item: item[1])
    if most_s < MUCH_OF_THE_FIRST_CALL * whole_s:
        return
    dearest = next(total for total in totals if phase_class(total.name) == kind)
    hit = any(event.outcome == "hit" for event in known.report.caches)
    yield Finding(
        rule="first call",
        title=f"Compiling took {duration_s(whole_s)}, {percent(most_s / whole_s)} of it in {WHERE[kind]}.",
        reason=f"`{dearest.name}` took {duration_s(dearest.self_s)} by itself, in {count(dearest.count, 'span')}.",
        advice="Some of it came out of a cache already." if hit else WARM[kind == "compile"],
        page="compile_time",
        once_s=most_s,
        weight="note",
    )


WHERE = {
    "compile": "the compiler of the kernels",
    "codegen": "writing the kernels",
    "inductor": "Inductor's passes and lowering",
    "aot_autograd": "AOTAutograd",
    "dynamo": "Dynamo's tracing",
    "other": "what torch gives no phase of its own",
}
WARM = {
    True: "torch keeps what was compiled in its cache on disk: the next process that compiles the same saves most of "
    "it.",
    False: "Layers that are alike are traced one by one: `torch.compiler.nested_compile_region` on the layer, or "
    "compiling the layer and not the model, does it once.",
}
