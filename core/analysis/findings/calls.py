"""Findings about whole calls: speed, time outside of kernels, guards, compile time, printed lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.analysis.durations import (
    AHEAD_OF_TIME,
    CLASS_WORDS,
    EqualLayers,
    equal_layers,
    phase_class,
    phase_totals,
    seconds_with_regions,
)
from core.analysis.dynamo.recompiles import guard_rows
from core.analysis.findings.finding import Finding, Rule, RunFacts, case, known_causes
from core.analysis.findings.number_advice import OF_TEMPLATE, TEMPLATE
from core.analysis.kernels.kernel import kernels_disturbed
from core.analysis.repairs.source import Proposal
from core.analysis.speed import summary
from core.analysis.work import dynamo_graphs, frame_of
from core.base.words import DEPRECATED, SLOW, count, duration_s, number, percent
from core.report import Compilation, GuardCosts, GuardFilter, Report

SMALL_CALL_S = 1e-3
TOO_SMALL = "the call is too small to pay off. Run it eagerly, or compile a larger part of the model."
MUCH_OUTSIDE, COSTLY_GUARDS = 0.25, 0.05
HAVE_CUDA_GRAPHS, CUDA_GRAPHS = ("reduce-overhead", "max-autotune"), "triton.cudagraphs"
# Equal layers, and ops of a layer, for the advice: a small region saves little, and prevents fusion across its border.
MANY_LAYERS, OPS_OF_A_LAYER = 4, 5
SPECIALIZE_FLOAT = "torch._dynamo.config.specialize_float = True"
OF_FLOATS = (
    f"{{conditions}} on floats take {{took}}. `{SPECIALIZE_FLOAT}` makes floats constants, without these conditions; "
    "each new value then needs a compilation. `torch._dynamo.config.use_recursive_dict_tags_for_guards = True` skips "
    "modules that did not change."
)
FILTER, OF_MODULES = "skip_guard_on_inbuilt_nn_modules_unsafe", "drops the guards of torch's own modules"
# Part of the check time that a guard filter must save, and part of the largest saving that is as good.
LEAST_SAVING, NEARLY = 0.05, 0.9
# Part of the check time from which a family of guards has an advice of its own.
MUCH_OF_GUARDS = 0.25
NO_FILTER = "None of torch's filters saved time here. Larger inputs make the guards a smaller part of a call."
MUCH_OF_THE_FIRST_CALL, LONG_S = 0.4, 2.0
MOST = 3  #: findings of printed lines
# Guard of an array of doubles, with its name and size, and the elements from which their bytes matter.
DOUBLES = re.compile(r"check_tensor\(___from_numpy\(L\['(\w+)'\]\), [^\n]*?torch\.float64,[^\n]*? size=\[([\d, ]+)\]")
MANY_DOUBLES = 10_000
ADVICE = {
    "slow": "Follow the message, for example install the package that it names, and run again: the library uses a slow "
    "path now.",
    "slow on cpu": "Follow the message if the fast path runs on a CPU. Most such packages have kernels for CUDA only; "
    "then nothing is slower here.",
    "deprecated": "It works today. Change it before you update the library.",
}


def slower(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if the compiled call is clearly slower than eager."""
    steady, timing = facts.steady, facts.report.timing
    if steady is None or steady.interval is None or not steady.slower:
        return
    yield Finding(
        rule="slower than eager",
        title=f"A compiled call takes {duration_s(steady.compiled_s)}, an eager one {duration_s(steady.eager_s)}.",
        reason=f"Compiled is {number(steady.interval.inverse().middle)}× slower in the steady "
        f"state{f', timed by {timing.clock}' if timing is not None and timing.walls else ''}.",
        advice="If no other finding gives a reason: "
        + (TOO_SMALL if steady.compiled_s < SMALL_CALL_S else "run it eagerly: torch's own kernels are as fast here."),
        page="speedup",
        each_s=steady.compiled_s - steady.eager_s,
    )


def outside_of_kernels(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if a call spends much of its time outside of its kernels."""
    report = facts.report
    total = summary(report)
    if total is None or not total.call_s or kernels_disturbed(report):
        return
    outside_s = total.call_s - min(max(total.in_place_s, total.kernels_s), total.call_s)
    if outside_s < MUCH_OUTSIDE * total.call_s:
        return
    cuda_graphs = _cuda_graph_proposal(facts)
    graphs = sum(compilation.status == "ok" for compilation in report.compilations)
    launches = sum(len(kernel.calls) for compilation in report.compilations for kernel in compilation.kernels)
    yield Finding(
        rule="outside of kernels",
        title=f"{percent(outside_s / total.call_s)} of a call, {duration_s(outside_s)} of {duration_s(total.call_s)}, "
        "is not spent in kernels.",
        reason="Guards, Python and launches take this time for any tensor size: "
        f"{count(graphs, 'graph')}, {count(launches, 'kernel launch', 'kernel launches')}."
        if graphs and launches
        else "Guards, Python and launches take this time for any tensor size.",
        advice="Use larger batches or fewer graphs"
        + (f". CUDA graphs (`{cuda_graphs.words}`) avoid the launches." if cuda_graphs else "."),
        page="kernels",
        each_s=outside_s,
        proposal=cuda_graphs,
    )


def _cuda_graph_proposal(facts: RunFacts) -> Proposal | None:
    """Return the proposal to use CUDA graphs; None if the job has CUDA graphs, or can't use them."""
    device = str(facts.job.get("device", "cpu")).partition(":")[0]
    options, mode = facts.options.get("options") or {}, facts.options.get("mode")
    if device != "cuda" or facts.options.get("backend", "inductor") != "inductor":
        return None
    if mode in HAVE_CUDA_GRAPHS or CUDA_GRAPHS in options:
        return None
    if options:
        return Proposal(f"options={{'{CUDA_GRAPHS}': True}}", compile={"options": {**options, CUDA_GRAPHS: True}})
    with_them = "max-autotune" if mode == "max-autotune-no-cudagraphs" else "reduce-overhead"
    return Proposal(f"mode='{with_them}'", compile={"mode": with_them})


def guards(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if guards take a relevant part of every call."""
    newest = {
        frame_of(compilation): compilation
        for compilation in facts.report.compilations
        if compilation.guard_warm_us is not None
    }
    checked_s = sum((compilation.guard_warm_us or 0.0) / 1e6 for compilation in newest.values())
    waited = facts.waited
    if waited is None or checked_s < COSTLY_GUARDS * waited.compiled_s:
        return
    slowest = max(newest.values(), key=lambda compilation: compilation.guard_warm_us or 0.0)
    floats = _float_advice(facts.report, slowest)
    yield Finding(
        rule="guards",
        title=f"Guards take {duration_s(checked_s)} of every call, {percent(checked_s / waited.compiled_s)} of it.",
        reason=f"`[{slowest.id}]` checks {count(slowest.guard_leaves or len(slowest.guards), 'guard')} at every call.",
        advice=floats or _guard_advice(facts.options, slowest.guard_costs),
        page="guards",
        compilation=slowest.id,
        each_s=checked_s,
        proposal=Proposal(SPECIALIZE_FLOAT, dynamo={"specialize_float": True}) if floats else None,
    )


def _float_advice(report: Report, compilation: Compilation) -> str:
    """Return the advice against conditions on floats; empty if they take a small part of the check."""
    costs = compilation.guard_costs
    took_us = costs.families_us.get("number", 0.0) if costs else 0.0
    if costs is None or took_us < MUCH_OF_GUARDS * costs.check_us:
        return ""
    rows = [row for row in guard_rows(report, compilation) if row.family == "number"]
    conditions = sum(len(row.guard.expression.split("\n")) for row in rows)
    return OF_FLOATS.format(conditions=count(conditions, "condition"), took=duration_s(took_us / 1e6))


def _best_filter(costs: GuardCosts) -> GuardFilter | None:
    """Return the filter that keeps most guards among those with nearly the largest measured saving."""
    least_us = min((choice.check_us for choice in costs.filters), default=0.0)
    most = NEARLY * (costs.check_us - least_us)
    worth = [choice for choice in costs.filters if costs.check_us - choice.check_us >= most]
    return max(worth, key=lambda choice: choice.kept, default=None)


def _guard_advice(options: Mapping[str, Any], costs: GuardCosts | None) -> str:
    """Return the advice to drop guards, with the call of `torch.compile`.

    Where filters were measured, it names the best one, or that none saves time. The call lists the options of the
    job's mode, since `torch.compile` does not take a mode and options together.
    """
    best = _best_filter(costs) if costs else None
    if costs is not None and best is not None and costs.check_us - best.check_us < LEAST_SAVING * costs.check_us:
        return NO_FILTER
    mode = f"**torch._inductor.list_mode_options('{options['mode']}'), " if options.get("mode") else ""
    addition = ", added to the options of the job," if options.get("options") else ""
    name = best.name if best else FILTER
    filtered = f"options={{{mode}'guard_filter_fn': torch.compiler.{name}}}"
    saved = f" saved {duration_s((costs.check_us - best.check_us) / 1e6)} here" if costs and best else f" {OF_MODULES}"
    return (
        f"Drop guards on values that never change in your use: `torch.compile(model, {filtered})`{addition}{saved}. If "
        "such a value changes, the old code runs anyway."
    )


def first_call(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if one kind of work takes most of the compile time."""
    total_s = sum(facts.seconds.values())
    if total_s < LONG_S:
        return
    totals = phase_totals(facts.report)
    by_class: dict[str, float] = {}
    for total in totals:
        kind = phase_class(total.name)
        by_class[kind] = by_class.get(kind, 0.0) + total.self_s
    kind, most_s = max(by_class.items(), key=lambda entry: entry[1])
    if most_s < MUCH_OF_THE_FIRST_CALL * total_s:
        return
    longest = next(total for total in totals if phase_class(total.name) == kind)
    yield Finding(
        rule="first call",
        title=f"Compiling took {duration_s(total_s)}, {percent(most_s / total_s)} of it in {CLASS_WORDS[kind]}.",
        reason=f"`{longest.name}` took {duration_s(longest.self_s)} of self time, in {count(longest.count, 'span')}.",
        advice=_compile_advice(facts, by_class, total_s, kind),
        page="compile_time",
        once_s=most_s,
        weight="note",
    )


def compiled_after_reset(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a function that was compiled again, since the code resets the compiler."""
    if not RESET.search(facts.source):
        return
    # Frame → session of torch's ids, which begin again after a reset → the first compilation there.
    firsts: dict[tuple[str, int, str], dict[str, str]] = {}
    for compilation in facts.report.compilations:
        at, (session, _, number_of) = compilation.frame, compilation.id.rpartition(":")
        if compilation.status == "ok" and number_of.endswith("/0"):
            firsts.setdefault((at.file, at.line, at.name), {}).setdefault(session, compilation.id)
    most = [*max(firsts.values(), key=len, default={}).values()]
    if len(most) < MANY_RESETS:
        return
    yield Finding(
        rule="compiler reset",
        title=case("reset", "title", name=facts.names[most[0]], times=str(len(most))),
        reason=case("reset", "reason"),
        advice=case("reset"),
        page="compile_time",
        compilation=most[-1],
        once_s=sum(facts.seconds.get(number, 0.0) for number in most[1:]),
    )


RESET, MANY_RESETS = re.compile(r"\b(?:_dynamo|compiler)\.reset\("), 3


def unrolled_loop(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if most of a slowly compiled graph comes from lines traced many times.

    Equal layers are not a loop of this kind: the finding `first call` has the advice for them.
    """
    compilations = [compilation for compilation in facts.report.compilations if compilation.status == "ok"]
    slowest = max(compilations, key=lambda compilation: facts.seconds.get(compilation.id, 0.0), default=None)
    graphs = dynamo_graphs(slowest) if slowest else ()
    line = graphs[-1].repeated if graphs else None
    if slowest is None or line is None or line.times < MANY_ROUNDS or _equal_layers(compilations):
        return
    # Nodes of a line are counted without reads of tuples and slices.
    ops = graphs[-1].calls - graphs[-1].targets.get("operator.getitem", 0)
    took_s, share = facts.seconds.get(slowest.id, 0.0), line.nodes / max(1, ops)
    is_large = line.times >= MANY_UNROLLED and line.nodes >= NODES_OF_A_LOOP
    if share < MOST_OF_THE_GRAPH or (took_s < LONG_S and not is_large):
        return
    yield Finding(
        rule="unrolled loop",
        title=f"Compiling `{facts.names[slowest.id]}` took {duration_s(took_s)}: Dynamo traced `{line.place.short}` "
        f"{count(line.times, 'time')}.",
        reason=f"Dynamo unrolls loops: {number(line.nodes)} of the {count(ops, 'op')} come from lines "
        "that it traced at least as often.",
        advice=case("unrolled"),
        page="compile_time",
        compilation=slowest.id,
        once_s=share * took_s,
    )


MANY_ROUNDS, MOST_OF_THE_GRAPH = 16, 0.5
# Rounds and ops of a loop whose graph is large, however long its compilation took.
MANY_UNROLLED, NODES_OF_A_LOOP = 32, 100


def _compile_advice(facts: RunFacts, by_class: Mapping[str, float], total_s: float, kind: str) -> str:
    """Return advice that makes the first call of the next process cheaper."""
    compilations = [compilation for compilation in facts.report.compilations if compilation.status == "ok"]
    if kind == "dynamo" and len(compilations) > 1:
        return (
            f"Dynamo traces each of the {number(len(compilations))} compilations: fewer graph breaks and recompiles "
            "reduce this."
        )
    layers = _equal_layers(compilations)
    if kind != "compile" and layers:
        return _region_advice(facts, layers)
    if facts.options.get("backend", "inductor") != "inductor":
        return "Only Inductor has an on-disk cache: the next process compiles everything again."
    if any(event.outcome == "hit" for event in facts.report.caches):
        return "A part of it already came from a cache."
    if any(phase.name == AHEAD_OF_TIME for phase in facts.report.phases):
        return "It was compiled ahead of time: a process that loads the package compiles nothing."
    is_cut = any(compilation.status == "not finished" for compilation in facts.report.compilations)
    if is_cut or any(event.outcome == "bypass" for event in facts.report.caches):
        why = "the run ended while it compiled" if is_cut else "AOTAutograd's cache was bypassed"
        return f"A warm start saves less than this: {why}."
    # Dynamo traces in every process; the caches of later phases use its graph as the key.
    left_s = by_class.get("dynamo", 0.0)
    if not left_s:
        return (
            "The next process finds the compiled code in torch's on-disk caches if they take the graph. Only Dynamo "
            "runs again; this log has no time for it."
        )
    return (
        f"A warm start saves up to {duration_s(total_s - left_s)} if torch's on-disk caches take the graph. Dynamo "
        f"tracing ({duration_s(left_s)}) runs again. Check with `--caches warm`."
    )


def backward_captured_again(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if compiled autograd captured the backward more than once."""
    captures = [compilation.id for compilation in facts.report.compilations if compilation.is_capture]
    if len(captures) < 2:
        return
    first = captures[0]
    again_s = sum(
        took_s
        for name, took_s in facts.seconds.items()
        if name.startswith("!") and name != first and not name.startswith(f"{first}/")
    )
    template = any(TEMPLATE in recompile.reason for recompile in facts.report.recompiles)
    yield Finding(
        rule="backward captured again",
        title=f"Compiled autograd captured the backward {count(len(captures), 'time')}.",
        reason=f"`{TEMPLATE}` is another class in each call, so it is a new node of the autograd graph."
        if template
        else "The log does not contain the reason: a new node of the autograd graph, or a tensor of another size.",
        advice=OF_TEMPLATE if template else CAPTURED_AGAIN,
        page="compile_time",
        compilation=captures[-1],
        once_s=again_s,
    )


CAPTURED_AGAIN = (
    "`TORCH_LOGS=compiled_autograd_verbose` prints what was new at each capture. Another loss needs a capture of its "
    "own, and so does a backward that adds to gradients: `optimizer.zero_grad()` sets them to None."
)


def cache_bypassed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for graphs that AOTAutograd's cache can't take, with torch's reason."""
    bypassed = [event for event in facts.report.caches if event.outcome == "bypass"]
    if not bypassed:
        return
    first = bypassed[0]
    reason = " ".join(first.reason.split())
    yield Finding(
        rule="cache bypassed",
        title=f"The cache of AOTAutograd was bypassed for {count(len(bypassed), 'graph')}.",
        reason=f"torch's reason: {reason}." if reason else "The log does not contain torch's reason.",
        advice=next((row.advice for row in known_causes("bypass") if row.match(reason)), COMPILED_AGAIN),
        page="compile_time",
        compilation=first.compilation,
        weight="note",
    )


COMPILED_AGAIN = "Each process runs Dynamo and AOTAutograd again for it; Inductor's cache still applies."


def _equal_layers(compilations: Sequence[Compilation]) -> EqualLayers | None:
    """Return the largest number of equal layers that have enough ops; None with too few layers."""
    layers = [each for compilation in compilations for each in equal_layers(compilation)]
    enough = [each for each in layers if each.number >= MANY_LAYERS and each.ops >= OPS_OF_A_LAYER]
    return max(enough, key=lambda each: each.number, default=None)


def _region_advice(facts: RunFacts, layers: EqualLayers) -> str:
    """Return the advice to compile equal layers once, with an estimate from the phases of the run."""
    path = BY_INDEX.sub(r"[\1]", IN_SCOPE.sub(r"\1", MODEL.sub("model", layers.path)))
    name = layers.kind or f"type({path})"
    seconds, estimate = seconds_with_regions(facts.report), ""
    if seconds is not None and facts.options.get("backend", "inductor") == "inductor":
        interval = f"{duration_s(seconds.low)}–{duration_s(seconds.high)}"
        estimate = case("equal layers, estimated", seconds=duration_s(seconds.middle), interval=interval)
    of_layers = {"number": number(layers.number), "layer": layers.kind or path, "name": name}
    return case("equal layers", **of_layers, estimate=estimate)


# Parts of a layer's path as Dynamo names it: the model, another module, and the place in a list.
MODEL, IN_SCOPE = re.compile(r"^L\['self'\]"), re.compile(r"^[LG]\['(\w+)'\]")
BY_INDEX = re.compile(r"(?:\.|\[')(\d+)(?:'\])?(?=\.|\[|$)")


def printed(facts: RunFacts) -> Iterator[Finding]:
    """Yield findings for the first lines in which a library reports a slow path or a deprecation."""
    remarks = (remark for source in facts.report.sources for remark in source.remarks)
    own = [remark.line.text for remark in remarks if remark.kind == "slow text"]
    # The code's own print is no advice.
    lines = [line for line in printed_lines(facts.output) if line.place or not any(text in line.text for text in own)]
    for kind in ("slow", "deprecated", "complex", "unfused attention"):
        advice = "slow on cpu" if kind == "slow" and facts.on_cpu else kind
        yield from (_finding(line, advice) for line in [line for line in lines if line.kind == kind][:MOST])


def _finding(line: PrintedLine, advice: str) -> Finding:
    text = line.text if line.text.count("`") % 2 == 0 else line.text.replace("`", "'")
    by = f"`{line.place}` printed it" if line.place else "It is in the output of the run"
    return Finding(
        rule="printed",
        title=f"{'The library' if line.place else 'The run'} printed: {text}",
        reason=f"{by}, {count(line.count, 'time')}.",
        advice=ADVICE.get(advice) or case(advice),
        page="overview",
        weight="cost" if advice == "slow" else "note",
    )


PrintedKind = Literal["slow", "deprecated", "complex", "unfused attention", ""]
UNFUSED = "flex_attention called without torch.compile()"
COMPLEX = "does not support code generation for complex operators"

# Terminal colours, and other control characters.
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# `path:12: UserWarning: text`, and the line of code that Python's warnings print below it.
WARNING = re.compile(r"^(?P<file>\S[^:]*):(?P<line>\d{1,7}): (?P<kind>\w*Warning): (?P<text>.*)$")
# Line of torch's own loggers: `W1123 17:33:28.036000 19654 torch/_logging/_internal.py:1345] [2/0]`.
LOGGED = re.compile(r"^[VDIWEC]\d{4} [\d:.]+ \d+ (?P<file>\S+?):(?P<line>\d{1,7})\] (?:\[[^\]]*\] )?(?P<text>.*)$")
MOST_LINES = 2_000  #: different lines of a run's output
LONGEST_LINE = 600  #: characters of a line of a run's output


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A printed line without a logger's prefix, and its count.

    `place` is the file and line that the text names as its origin; empty without an origin.
    """

    text: str
    count: int
    kind: PrintedKind
    place: str = ""


def printed_lines(output: str) -> tuple[PrintedLine, ...]:
    """Return the distinct lines of an output in order, at most 2,000."""
    counts: dict[tuple[str, str, PrintedKind], int] = {}
    for key in _lines(output):
        if key in counts or len(counts) < MOST_LINES:
            counts[key] = counts.get(key, 0) + 1
    return tuple(PrintedLine(text, count, kind, place) for (text, place, kind), count in counts.items())


def _lines(output: str) -> Iterator[tuple[str, str, PrintedKind]]:
    quoted = False
    for raw in ESCAPE.sub("", output).splitlines():
        line = CONTROL.sub("", raw)[:LONGEST_LINE].rstrip()
        # Python prints the line of code below a warning.
        skipped, quoted = quoted and line.startswith("  "), False
        if not line.strip() or skipped:
            continue
        match = WARNING.match(line) or LOGGED.match(line)
        quoted = match is not None and "kind" in match.groupdict()
        text = match["text"] if match else line.strip()
        place = f"{match['file'].rpartition('/')[2]}:{match['line']}" if match else ""
        yield text, place, _kind(text, line)


def _kind(text: str, line: str) -> PrintedKind:
    if COMPLEX in text or UNFUSED in text:
        return "complex" if COMPLEX in text else "unfused attention"
    if SLOW.search(text):
        return "slow"
    return "deprecated" if DEPRECATED.search(line) else ""


def doubles(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for large arrays of NumPy that are passed in float64."""
    guards = (guard.expression for each in facts.report.compilations for guard in each.guards)
    matches = [match for guard in guards if (match := DOUBLES.match(guard)) is not None]
    sizes = {match[1]: math.prod([int(size) for size in match[2].split(",")]) for match in matches}
    if sum(sizes.values()) >= MANY_DOUBLES:
        texts = (case("doubles", "title", names="`, `".join(sizes)), case("doubles", "reason"), case("doubles"))
        yield Finding("float64 inputs", *texts, page="overview", weight="note")


def weights_cast(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for large weights that an inference without kernels converts at each call."""
    compilations = facts.report.compilations
    if facts.report.script or facts.job.get("training") or any(each.schedules for each in compilations):
        return
    cast = [graph.cast for each in compilations for graph in dynamo_graphs(each) if graph.cast]
    largest = max(cast, key=lambda each: each.share, default=None)
    if largest is not None and largest.share >= MUCH_OF_THE_WEIGHTS:
        title = case("weights cast", "title", line=largest.place.short, share=percent(largest.share))
        texts = (title, case("weights cast", "reason", dtypes=largest.dtypes), case("weights cast"))
        yield Finding("weights converted", *texts, page="overview", weight="note")


# Part of the bytes of parameters and buffers whose conversion is a finding.
MUCH_OF_THE_WEIGHTS = 0.25

RULES: tuple[Rule, ...] = (
    slower,
    outside_of_kernels,
    guards,
    printed,
    first_call,
    compiled_after_reset,
    unrolled_loop,
    backward_captured_again,
    cache_bypassed,
    doubles,
)
