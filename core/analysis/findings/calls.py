"""Findings of whole calls: whether compiling pays, what a call does outside of its kernels, what the first call is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.analysis.disturbance import kernels_disturbed
from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.kernels import summary
from core.analysis.phases import phase_class, phase_totals
from core.report import Compilation
from core.words import count, duration_s, number, percent

MUCH_OUTSIDE = 0.25
# A layer of a list, and how many alike are worth a word.
INDEXED, MANY_LAYERS = re.compile(r"(?:\.|\[')\d+(?:'\])?$"), 4
MUCH_OF_THE_FIRST_CALL, LONG_S = 0.4, 2.0


def slower(known: Known) -> Iterator[Finding]:
    """A compiled call that takes clearly longer than the eager one."""
    found, timing = known.steady, known.report.timing
    if found is None or found.interval is None or not found.slower:
        return
    yield Finding(
        rule="slower than eager",
        title=f"A compiled call takes {duration_s(found.compiled_s)}, an eager one {duration_s(found.eager_s)}.",
        reason=f"Compiled is {number(found.interval.inverse().middle)} times slower once all is compiled"
        f"{f', timed by {timing.clock}' if timing is not None and timing.eager_wall_s else ''}.",
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
        title=f"{percent(outside_s / found.call_s)} of a call, {duration_s(outside_s)} of {duration_s(found.call_s)}, "
        "is not spent in kernels.",
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
    yield Finding(
        rule="first call",
        title=f"Compiling took {duration_s(whole_s)}, {percent(most_s / whole_s)} of it in {WHERE[kind]}.",
        reason=f"`{dearest.name}` took {duration_s(dearest.self_s)} by itself, in {count(dearest.count, 'span')}.",
        advice=_cheaper(known, by_class, whole_s, kind),
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


def _cheaper(known: Known, by_class: Mapping[str, float], whole_s: float, kind: str) -> str:
    """What would make the first call of the next process cheaper."""
    compilations = [found for found in known.report.compilations if found.status == "ok"]
    if kind == "dynamo" and len(compilations) > 1:
        return (
            f"Each of the {number(len(compilations))} compilations is traced by itself: fewer graph breaks and "
            "recompiles are less of it."
        )
    layers = _alike(compilations)
    if kind != "compile" and layers:
        return (
            f"{layers} are compiled one by one: `torch.compiler.nested_compile_region` on the layer, or compiling the "
            "layer and not the model, does it once."
        )
    if known.options.get("backend", "inductor") != "inductor":
        return "Only Inductor keeps what it compiled on disk: the next process compiles it again."
    if any(event.outcome == "hit" for event in known.report.caches):
        return "Some of it came out of a cache already."
    # Dynamo traces in every process; what comes after it is found by its graph.
    left_s = by_class.get("dynamo", 0.0)
    return (
        "torch keeps what it compiled in its caches on disk: a process that finds all of it there has "
        f"{duration_s(left_s)} of Dynamo's tracing left, and saves up to {duration_s(whole_s - left_s)}."
    )


def _alike(compilations: Sequence[Compilation]) -> str:
    """The layers of which the model has several, `12 BertLayer`; empty where none are recorded."""
    found: dict[str, set[str]] = {}
    for compilation in compilations:
        for module in (module for stage in compilation.modules.values() for module in stage.values()):
            if INDEXED.search(module.path):
                found.setdefault(module.kind, set()).add(module.path)
    kind, paths = max(found.items(), key=lambda item: len(item[1]), default=("", set()))
    return f"{number(len(paths))} `{kind}`" if len(paths) >= MANY_LAYERS else ""
