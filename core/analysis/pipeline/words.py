"""The backend `accelerator` in a run, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from core.analysis.noise import BUSY, busy
from core.analysis.results import results
from core.base.words import agree, bytes_, count, duration_s, number
from core.report import Crossing, Pipeline, PipelineSegment, Report

ENDS = ("argument", "result")


def pipelines(report: Report) -> list[tuple[str, Pipeline]]:
    """Return every pipeline with its compilation."""
    return [(compilation.id, pipeline) for compilation in report.compilations for pipeline in compilation.pipelines]


def pipeline_sentence(report: Report, compilation: str = "") -> str:
    """Return how much of the run, or of one compilation, the accelerator runs, in a sentence."""
    selected = [pipeline for id_, pipeline in pipelines(report) if compilation in ("", id_)]
    if not selected:
        return "The accelerator was given no graph."
    segments = [segment for pipeline in selected for segment in pipeline.segments if not segment.problem]
    ops, calls = sum(len(segment.nodes) for segment in segments), sum(pipeline.calls for pipeline in selected)
    entries, size = sum(len(s.entries) for s in segments), sum(s.file_bytes for s in segments)
    compared = results(report)
    outcome = {
        None: "",
        "same": ", equal to eager",
        "other strides": ", equal to eager but for strides",
        "differs": ", and the results differ from eager's",
    }
    equality = outcome.get(compared.outcome if compared else None, ", which could not be compared with eager")
    placed = f"{number(ops)} of {count(calls, 'op')} in {count(len(segments), 'segment')} on the accelerator"
    return f"{placed}: {count(entries, 'program entry', 'program entries')}, {bytes_(size)}{equality}."


def pipeline_summary(report: Report) -> list[str]:
    """Return the sentence and lines of an accelerator run, without program entries; empty for other runs."""
    return [pipeline_sentence(report), *pipeline_lines(report, entries=False)] if pipelines(report) else []


def pipeline_lines(report: Report, entries: bool = True) -> Iterator[str]:
    """Yield all pipeline records, one per line; `entries` adds the program entries."""
    crossings = {(crossed.compilation, crossed.direction, crossed.segment): crossed for crossed in report.crossings}
    if disturbed := crossings_disturbed(report):
        yield f"{disturbed}: its seconds are no evidence"
    for compilation, pipeline in pipelines(report):
        took = ", ".join(f"{stage} {duration_s(seconds)}" for stage, seconds in pipeline.times_s.items())
        yield f"[{compilation}] {pipeline.direction}: {count(pipeline.calls, 'op')}; {took}"
        yield from _refusal_lines(pipeline)
        for segment in pipeline.segments:
            yield from _segment_lines(segment)
            yield from _entry_lines(segment) if entries else ()
            if crossing := crossings.get((compilation, pipeline.direction, segment.name)):
                yield from _crossing_lines(crossing)


def crossings_disturbed(report: Report) -> str:
    """Return why times of ABI calls were disturbed by other processes.

    Empty if they were not, or the load is unknown.
    """
    return f"{BUSY} during these calls" if any(busy(crossing.load) for crossing in report.crossings) else ""


def refusal_counts(pipeline: Pipeline) -> dict[str, tuple[str, ...]]:
    """Return reason → nodes that stay with torch, most frequent reason first."""
    reasons = Counter(refusal.reason for refusal in pipeline.refusals)
    return {
        reason: tuple(refusal.node for refusal in pipeline.refusals if refusal.reason == reason)
        for reason, _ in reasons.most_common()
    }


def _refusal_lines(pipeline: Pipeline) -> Iterator[str]:
    """Yield one line per reason for ops that stay with torch."""
    for reason, names in refusal_counts(pipeline).items():
        ops, more = len(names), "" if len(names) <= 4 else " …"
        yield f"  {count(ops, 'op')} {agree(ops, 'stays', 'stay')} with torch: {reason} ({', '.join(names[:4])}{more})"


def _segment_lines(segment: PipelineSegment) -> Iterator[str]:
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


def _entry_lines(segment: PipelineSegment) -> Iterator[str]:
    for index, entry in enumerate(segment.entries):
        steps = f" {{ {'; '.join(entry.steps)} }}" if entry.steps else ""
        targets = f"{', '.join(entry.outputs)} = " if entry.outputs else ""
        yield f"    {index:>3}  {targets}{entry.op}({', '.join(entry.inputs)}){steps}"


def memory_words(segment: PipelineSegment) -> str:
    """Return the memory of a program's temporaries, in words."""
    if not segment.temporary_bytes:
        return "no temporaries"
    alone = bytes_(segment.temporary_bytes)
    if not segment.arena_bytes:
        return f"temporaries of {alone}, each with memory of its own"
    return f"temporaries of {alone} in an arena of {bytes_(segment.arena_bytes)}"


def _crossing_lines(crossing: Crossing) -> Iterator[str]:
    if crossing.calls:
        inside_s, outside_s = (
            crossing.runtime_s / crossing.calls,
            (crossing.call_s - crossing.runtime_s) / crossing.calls,
        )
        copies = f", {count(crossing.copies, 'input')} copied" if crossing.copies else ", nothing copied"
        words = f"{duration_s(inside_s)} each in the runtime and {duration_s(outside_s)} beside it{copies}"
        yield f"    {count(crossing.calls, 'call')} across the ABI: {words}"
    yield from (f"    {line}" for line in fallback_lines(crossing))


def fallback_lines(crossing: Crossing) -> Iterator[str]:
    """Yield how often torch ran a segment instead, one line per reason."""
    for reason, times in crossing.fallbacks.items():
        yield f"torch ran it {count(times, 'time')}: {reason}"
