"""Comparison of two runs: all differences, and a sentence with the changed numbers and the speedup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from core.analysis.comparison.compilations import CompilationComparison, compare_compilations
from core.analysis.comparison.figures import (
    AT_LEAST,
    BREAKS,
    NOT_RECORDED,
    Figure,
    PhasePair,
    TimeComparison,
    figures,
    phase_pairs,
    time_comparison,
)
from core.analysis.comparison.matching import (
    MatchedPair,
    OptionDifference,
    RunSide,
    SourceDifference,
    breaks,
    option_differences,
    recompiles,
    source_differences,
)
from core.analysis.dynamo.failures import failure_sentence, failures
from core.analysis.interval import NOT_MEASURABLE, Interval
from core.analysis.results import results
from core.analysis.verdict import side_words
from core.base.words import agree, count, duration_s, number, ratio
from core.job.options import OPTIONS
from core.report import GraphBreak, Recompile, Report

# Options of a job that don't change its eager call.
OF_THE_COMPILER = frozenset(option.name for option in OPTIONS if not option.eager)
# Numbers reported with "more" or "fewer" → their noun in the singular.
NOUNS = {"recompiles": "recompile", "graphs": "graph", "kernels": "kernel"}
# Verb for each change of a node from the left to the right.
VERBS = {"only right": "added", "only left": "removed", "changed": "changed", "moved": "moved"}
GRAPH = "dynamo_output_graph"
NO_SPEED = "no difference in speed seen"
DRIFTED = "compared by speedup over eager, because eager itself took different times"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Full comparison of two runs; `left` and `right` describe the runs.

    `sources` is None if a log does not contain the code. `failures` and `results` describe each run in words.
    """

    left: str
    right: str
    options: tuple[OptionDifference, ...]
    sources: tuple[SourceDifference, ...] | None
    figures: tuple[Figure, ...]
    compilations: tuple[CompilationComparison, ...]
    breaks: tuple[MatchedPair[GraphBreak], ...]
    recompiles: tuple[MatchedPair[Recompile], ...]
    phases: tuple[PhasePair, ...]
    times: TimeComparison | None
    failures: tuple[str, str]
    results: tuple[str, str]

    def figure(self, name: str) -> Figure:
        """Return the figure of this name; both values are None if neither run has it."""
        return next((figure for figure in self.figures if figure.name == name), Figure(name, None, None))


def compare_runs(left: RunSide, right: RunSide) -> RunComparison:
    """Compare the right run with the left run."""
    left_report, right_report = left.report, right.report
    options, sources = option_differences(left_report.setting, right_report.setting), source_differences(left, right)
    return RunComparison(
        side_words(left_report),
        side_words(right_report),
        options,
        sources,
        figures(left_report, right_report),
        compare_compilations(left, right),
        breaks(left_report, right_report),
        recompiles(left_report, right_report),
        phase_pairs(left_report, right_report),
        time_comparison(left_report, right_report, same_eager(left_report, right_report, options, sources)),
        (_failure_words(left_report), _failure_words(right_report)),
        (_outcome(left_report), _outcome(right_report)),
    )


def same_eager(
    left: Report,
    right: Report,
    options: tuple[OptionDifference, ...],
    sources: tuple[SourceDifference, ...] | None,
) -> bool:
    """Return True if eager does the same work in both runs: same code, inputs and machine.

    False if a job or the code is not recorded.
    """
    comparable = left.setting.job is not None and right.setting.job is not None and sources is not None
    differing = {
        difference.name for difference in options if not difference.name.startswith(("options.", "dynamo.", "rival."))
    }
    return comparable and not sources and not differing - OF_THE_COMPILER - {"model"}


def _failure_words(report: Report) -> str:
    if report.error is not None:
        return f"failed while {report.error.stage}: {report.error.type}"
    return failure_sentence(failures(report))


def _outcome(report: Report) -> str:
    result = results(report)
    return result.outcome if result is not None else ""


def comparison_sentence(comparison: RunComparison) -> str:
    """Return the comparison as one sentence, from the left run to the right run."""
    parts = _parts(comparison) or [_equal_aspects(comparison)]
    text = "; ".join([", ".join(parts), *times_words(comparison.times)])
    return f"{text[:1].upper()}{text[1:]}."


def comparison_data(comparison: RunComparison) -> dict[str, Any]:
    """Return a comparison as JSON-compatible data, with its sentence."""
    names = [field.name for field in fields(comparison)]
    return {"sentence": comparison_sentence(comparison), **{name: getattr(comparison, name) for name in names}}


def _parts(comparison: RunComparison) -> list[str]:
    inside = [
        *_count_words(comparison, NOUNS),
        *_capture_words(comparison),
        *_kernel_words(comparison),
        *_guard_words(comparison),
    ]
    return [*_failure_differences(comparison), *_break_words(comparison), *inside] or [*_differing_numbers(comparison)]


def differs(comparison: RunComparison) -> bool:
    """Return True if the runs differ in anything except measured times."""
    return bool([*_parts(comparison), *_differing_inputs(comparison)])


def times_words(times: TimeComparison | None) -> list[str]:
    """Return the speedup of the right run's compiled call in words, or why it is unknown."""
    if times is None:
        return []
    if times.interval is None:
        return [f"speed unknown: {times.why_not}"]
    if not times.comparable:
        return [f"speed {times.why_not}"]
    doubts = [DRIFTED] if times.drifted else []
    return [speed_words(times), *doubts, *([times.disturbed] if times.disturbed else [])]


def speed_words(times: TimeComparison) -> str:
    """Return the speedup in words; "not measurable" if unknown.

    "No difference" if the interval contains 1 or is too close to 1. Reasons to doubt the speedup are left out.
    """
    if times.interval is None or not times.comparable:
        return NOT_MEASURABLE
    if times.faster:
        return f"{_ratio_words(times.interval)} faster {_bounds(times.interval)}"
    if times.slower:
        return f"{_ratio_words(times.interval.inverse())} slower {_bounds(times.interval.inverse())}"
    return f"{NO_SPEED} {_bounds(times.interval)}"


def seconds_words(times: TimeComparison) -> str:
    """Return the medians, and the machine's drift between the two runs."""
    text = f"{duration_s(times.left.compiled_s)} and {duration_s(times.right.compiled_s)} a call"
    if times.eager is None:
        return f"{text}; eager does different work in both, so drift of the machine is unknown"
    if times.eager.wide:
        return f"{text}; eager's samples scatter too much, so drift of the machine is unknown"
    return f"{text}; eager itself was {ratio(times.eager.middle, (times.eager.low, times.eager.high))} as fast"


def _ratio_words(interval: Interval) -> str:
    return f"{number(interval.middle)}×"


def _bounds(interval: Interval) -> str:
    return f"({number(interval.low)}–{number(interval.high)})"


def _failure_differences(comparison: RunComparison) -> Iterator[str]:
    for side, outcome, opposite in (("right", *comparison.failures[::-1]), ("left", *comparison.failures)):
        if outcome and outcome != opposite:
            yield f"on the {side} {outcome}"
    for side, outcome, opposite in (("right", *comparison.results[::-1]), ("left", *comparison.results)):
        if outcome == "differs" and opposite != outcome:
            yield f"results differ from eager on the {side}"


def _break_words(comparison: RunComparison) -> Iterator[str]:
    figure = comparison.figure(BREAKS)
    # A break may be missing on a side that does not record all breaks.
    both_partial = figure.left_told.startswith(AT_LEAST) and figure.right_told.startswith(AT_LEAST)
    removed = sum(pair.right is None for pair in comparison.breaks) * (both_partial or not figure.right_told)
    added = sum(pair.left is None for pair in comparison.breaks) * (both_partial or not figure.left_told)
    if removed:
        yield f"{count(removed, 'graph break')} gone"
    if added:
        yield f"{number(added)} new {agree(added, 'graph break', 'graph breaks')}"


def _count_words(comparison: RunComparison, nouns: dict[str, str]) -> Iterator[str]:
    for name, singular in nouns.items():
        figure = comparison.figure(name)
        if NOT_RECORDED in (figure.left_told, figure.right_told):
            continue
        if (figure.left is None) != (figure.right is None):
            yield f"no {singular}s on the {'left' if figure.left is None else 'right'}"
        elif figure.differs and figure.left is not None and figure.right is not None:
            more = int(figure.right - figure.left)
            noun = agree(abs(more), singular, f"{singular}s")
            yield f"{number(abs(more))} {'more' if more > 0 else 'fewer'} {noun}"


def _capture_words(comparison: RunComparison) -> Iterator[str]:
    """Yield how captured nodes changed; if none changed, whether later graphs differ."""
    graphs = [graph for pair in comparison.compilations for graph in pair.graphs]
    totals: Counter[str] = Counter()
    for graph in graphs:
        if graph.stage == GRAPH and ((graph.left and graph.right) or graph.moved):
            totals.update(graph.changes)
    verbs = {**VERBS, "to another graph": _moved_verb(comparison)}
    changes = [f"{number(totals[change])} {verb}" for change, verb in verbs.items() if totals[change]]
    if changes:
        first, *rest = changes
        how_many, verb = first.split(" ", 1)
        yield ", ".join([f"{how_many} captured {'node' if how_many == '1' else 'nodes'} {verb}", *rest])
    elif any(not graph.same for graph in graphs if graph.left and graph.right):
        yield "the captured graphs are the same, later graphs differ"


def _moved_verb(comparison: RunComparison) -> str:
    """Return how nodes moved between graphs: to more graphs by a split, from more graphs by a merge."""
    graphs = comparison.figure("graphs")
    left, right = graphs.left or 0, graphs.right or 0
    second = "a second graph" if {left, right} == {1, 2} else "another graph"
    return f"moved {'from' if right < left else 'to'} {second if left != right else 'another graph'}"


def _guard_words(comparison: RunComparison) -> Iterator[str]:
    """Yield how many guards were added or removed; if the counts are equal, how many guards differ."""
    more = [*_count_words(comparison, {"guards": "guard"})]
    differing = sum(len(compilation.guards.only_right) for compilation in comparison.compilations if compilation.guards)
    if more or not differing:
        yield from more
    else:
        yield f"{count(differing, 'guard')} {agree(differing, 'differs', 'differ')}"


def _word_list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _kernel_words(comparison: RunComparison) -> Iterator[str]:
    """Yield how many kernels differ.

    If the runs have different numbers of kernels, only matched kernels count. Library calls are compared only if
    all generated kernels are equal.
    """
    kernels = comparison.figure("kernels")
    as_many = kernels.left == kernels.right
    all_pairs = [
        pair for compilation in comparison.compilations if compilation.kernels for pair in compilation.kernels.pairs
    ]
    pairs = [pair for pair in all_pairs if pair.both or as_many]
    for extern, noun in ((False, "generated kernel"), (True, "library call")):
        compared = [pair for pair in pairs if pair.either.extern == extern]
        differing = sum(bool(pair.differs) or not pair.both for pair in compared)
        if differing:
            yield f"{number(differing)} of {count(len(compared), noun)} {agree(differing, 'differs', 'differ')}"
            return


def _differing_numbers(comparison: RunComparison) -> Iterator[str]:
    """Yield the names of the figures that differ, in words."""
    names = [figure.name for figure in comparison.figures if figure.differs]
    if names:
        yield f"{_word_list(names)} {agree(len(names), 'differs', 'differ')}"


def _differing_inputs(comparison: RunComparison) -> list[str]:
    names = [difference.name for difference in comparison.options]
    return [*(["source"] if comparison.sources else []), *(["options"] if names else [])]


def _equal_aspects(comparison: RunComparison) -> str:
    """Describe the equal aspects of two runs that differ at most in options, source and times."""
    unrecorded = [figure for figure in comparison.figures if NOT_RECORDED in (figure.left_told, figure.right_told)]
    names = ["breaks" if figure.name == BREAKS else figure.name for figure in unrecorded]
    equal = [name for name in ("breaks", "graphs", "guards", "kernels") if name not in names]
    same = f"{_word_list(equal)} {agree(len(equal), 'is', 'are')} the same"
    if names:
        same += f", {_word_list(names)} {agree(len(names), 'was', 'were')} not recorded"
    inputs = _differing_inputs(comparison)
    if inputs:
        return f"{' and '.join(inputs)} {'differs' if inputs == ['source'] else 'differ'}, but {same}"
    aspects = f"options, source, {same}" if comparison.sources is not None else same
    claimed = comparison.times is not None and (comparison.times.faster or comparison.times.slower)
    return aspects if claimed else f"no difference: {aspects}"
