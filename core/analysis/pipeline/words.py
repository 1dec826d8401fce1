"""The backend `accelerator` in a run, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from core.analysis.disturbance import BUSY, busy
from core.analysis.results import results
from core.base.words import agree, bytes_, count, duration_s, number
from core.report import Crossing, Pipeline, PipelineSegment, Report

ENDS = ("argument", "result")


def pipelines(report: Report) -> list[tuple[str, Pipeline]]:
    """Return every pipeline with its compilation."""
    return [(compilation.id, found) for compilation in report.compilations for found in compilation.pipelines]


def pipeline_sentence(report: Report, compilation: str = "") -> str:
    """Return how much of the run, or of one compilation, the accelerator runs, in a sentence."""
    found = [pipeline for id_, pipeline in pipelines(report) if compilation in ("", id_)]
    if not found:
        return "The accelerator was given no graph."
    segments = [segment for pipeline in found for segment in pipeline.segments if not segment.problem]
    ops, calls = sum(len(segment.nodes) for segment in segments), sum(pipeline.calls for pipeline in found)
    entries, size = sum(len(s.entries) for s in segments), sum(s.file_bytes for s in segments)
    compared = results(report)
    outcome = {
        None: "",
        "same": ", equal to eager",
        "other strides": ", equal to eager but for strides",
        "differs": ", and the results differ from eager's",
    }
    told = outcome.get(compared.outcome if compared else None, ", which could not be compared with eager")
    where = f"{number(ops)} of {count(calls, 'op')} in {count(len(segments), 'segment')} on the accelerator"
    return f"{where}: {count(entries, 'program entry', 'program entries')}, {bytes_(size)}{told}."


def pipeline_summary(report: Report) -> list[str]:
    """Return the sentence and lines of an accelerator run, without program entries; empty for other runs."""
    return [pipeline_sentence(report), *pipeline_lines(report, entries=False)] if pipelines(report) else []


def pipeline_lines(report: Report, entries: bool = True) -> Iterator[str]:
    """Yield all pipeline records, one per line; `entries` adds the program entries."""
    crossings = {(item.compilation, item.direction, item.segment): item for item in report.crossings}
    if disturbed := crossings_disturbed(report):
        yield f"{disturbed}: its seconds are no evidence"
    for compilation, found in pipelines(report):
        took = ", ".join(f"{stage} {duration_s(seconds)}" for stage, seconds in found.times_s.items())
        yield f"[{compilation}] {found.direction}: {count(found.calls, 'op')}; {took}"
        yield from _refused(found)
        for segment in found.segments:
            yield from _segment(segment)
            yield from _entries(segment) if entries else ()
            if crossing := crossings.get((compilation, found.direction, segment.name)):
                yield from _crossed(crossing)


def crossings_disturbed(report: Report) -> str:
    """Return why times of ABI calls were disturbed by other processes.

    Empty if they were not, or the load is unknown.
    """
    return f"{BUSY} during these calls" if any(busy(found.load) for found in report.crossings) else ""


def refusal_counts(found: Pipeline) -> dict[str, tuple[str, ...]]:
    """Return reason → nodes that stay with torch, most frequent reason first."""
    reasons = Counter(refusal.reason for refusal in found.refusals)
    return {
        reason: tuple(refusal.node for refusal in found.refusals if refusal.reason == reason)
        for reason, _ in reasons.most_common()
    }


def _refused(found: Pipeline) -> Iterator[str]:
    """Yield one line per reason for ops that stay with torch."""
    for reason, names in refusal_counts(found).items():
        met = len(names)
        more = "" if len(names) <= 4 else " …"
        yield f"  {count(met, 'op')} {agree(met, 'stays', 'stay')} with torch: {reason} ({', '.join(names[:4])}{more})"


def _segment(segment: PipelineSegment) -> Iterator[str]:
    across = f"{bytes_(segment.input_bytes)} in, {bytes_(segment.output_bytes)} out"
    if segment.problem:
        yield f"  {segment.name}: {count(len(segment.nodes), 'op')}, {across}; torch runs it: {segment.problem}"
        return
    inputs = sum(entry.op == "argument" for entry in segment.entries)
    work = sum(entry.op not in ENDS for entry in segment.entries)
    entries = f"{count(inputs, 'input')}, {count(work, 'instruction')} and 1 result"
    yield f"  {segment.name}: {count(len(segment.nodes), 'op')}; {entries}; {across}"
    yield f"    file {segment.file}: {bytes_(segment.file_bytes)}, {bytes_(segment.constant_bytes)} of constants"
    yield f"    {memory_words(segment)}"
    stages = ", ".join(f"{stage} {duration_s(seconds)}" for stage, seconds in segment.times_s.items())
    yield f"    {stages}"
    changed = ", ".join(f"{step.name} {number(step.entries)}" for step in segment.passes)
    yield f"    program entries after each pass: {changed}"


def _entries(segment: PipelineSegment) -> Iterator[str]:
    for index, entry in enumerate(segment.entries):
        steps = f" {{ {'; '.join(entry.steps)} }}" if entry.steps else ""
        made = f"{', '.join(entry.outputs)} = " if entry.outputs else ""
        yield f"    {index:>3}  {made}{entry.op}({', '.join(entry.inputs)}){steps}"


def memory_words(segment: PipelineSegment) -> str:
    """Return the memory of a program's temporaries, in words."""
    if not segment.temporary_bytes:
        return "no temporaries"
    alone = bytes_(segment.temporary_bytes)
    if not segment.arena_bytes:
        return f"temporaries of {alone}, each with memory of its own"
    return f"temporaries of {alone} in an arena of {bytes_(segment.arena_bytes)}"


def _crossed(found: Crossing) -> Iterator[str]:
    if found.calls:
        within, beside = found.runtime_s / found.calls, (found.call_s - found.runtime_s) / found.calls
        copies = f", {count(found.copies, 'input')} copied" if found.copies else ", nothing copied"
        words = f"{duration_s(within)} each in the runtime and {duration_s(beside)} beside it{copies}"
        yield f"    {count(found.calls, 'call')} across the ABI: {words}"
    yield from (f"    {line}" for line in fallback_lines(found))


def fallback_lines(found: Crossing) -> Iterator[str]:
    """Yield how often torch ran a segment instead, one line per reason."""
    for reason, met in found.fallbacks.items():
        yield f"torch ran it {count(met, 'time')}: {reason}"
