"""Comparison of two runs in one sentence: numbers that grew or shrank, and the speedup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from core.analysis.comparison.run import RunComparison
from core.analysis.comparison.times import TimeComparison
from core.analysis.disturbance import NOT_MEASURABLE
from core.analysis.interval import Interval
from core.base.words import agree, count, duration_s, number, ratio

# Numbers that are told with "more" and "fewer", each with what one of them is called.
TOLD = {"recompiles": "recompile", "graphs": "graph", "kernels": "kernel"}
# What became of a node from the left to the right.
VERBS = {"only right": "added", "only left": "removed", "changed": "changed", "moved": "moved"}
GRAPH = "dynamo_output_graph"
NO_SPEED = "no difference in speed seen"
DRIFTED = "by what each gains over eager, since eager itself did not take the same time in both"


def comparison_sentence(found: RunComparison) -> str:
    """Return the comparison as one sentence, from the left run to the right run."""
    parts = _parts(found) or [_alike(found)]
    text = "; ".join([", ".join(parts), *times_words(found.times)])
    return f"{text[:1].upper()}{text[1:]}."


def comparison_data(found: RunComparison) -> dict[str, Any]:
    """Return a comparison as JSON-compatible data, with its sentence."""
    names = [field.name for field in fields(found)]
    return {"sentence": comparison_sentence(found), **{name: getattr(found, name) for name in names}}


def _parts(found: RunComparison) -> list[str]:
    inside = [*_counts(found, TOLD), *_captured(found), *_kernels(found), *_guards(found)]
    return [*_ended(found), *_breaks(found), *inside] or [*_others(found)]


def differs(found: RunComparison) -> bool:
    """Return True if anything differs that must be equal in two equal runs."""
    return bool([*_parts(found), *_asked(found)])


def times_words(times: TimeComparison | None) -> list[str]:
    """Return the speedup of the right run's compiled call in words, or why it is unknown."""
    if times is None:
        return []
    if times.interval is None:
        return [f"{times.why_not} which is faster"]
    if not times.comparable:
        return [f"speed {times.why_not}"]
    doubts = [DRIFTED] if times.drifted else []
    return [speed_words(times), *doubts, *([times.disturbed] if times.disturbed else [])]


def speed_words(times: TimeComparison) -> str:
    """Return the speedup alone; "no difference seen" if the interval contains 1 or is too close to it."""
    if times.interval is None or not times.comparable:
        return NOT_MEASURABLE
    if times.faster:
        return f"{_times(times.interval)} faster {_bounds(times.interval)}"
    if times.slower:
        return f"{_times(times.interval.inverse())} slower {_bounds(times.interval.inverse())}"
    return f"{NO_SPEED} {_bounds(times.interval)}"


def seconds_words(times: TimeComparison) -> str:
    """Return the medians, and the machine's drift between the two runs."""
    text = f"{duration_s(times.left.compiled_s)} and {duration_s(times.right.compiled_s)} a call"
    if times.eager is None:
        return f"{text}; eager is not the same work in both, so what the machine did between the two is not known"
    if times.eager.wide:
        return f"{text}; eager's own samples are too far apart to say what the machine did between the two"
    return f"{text}; eager itself was {ratio(times.eager.middle, (times.eager.low, times.eager.high))} as fast"


def _times(interval: Interval) -> str:
    return f"{number(interval.middle)} ×"


def _bounds(interval: Interval) -> str:
    return f"({number(interval.low)} to {number(interval.high)})"


def _ended(found: RunComparison) -> Iterator[str]:
    for side, mine, others in (("right", *found.failures[::-1]), ("left", *found.failures)):
        if mine and mine != others:
            yield f"on the {side} {mine}"
    for side, mine, others in (("right", *found.results[::-1]), ("left", *found.results)):
        if mine == "differs" and others != mine:
            yield f"results differ from eager on the {side}"


def _breaks(found: RunComparison) -> Iterator[str]:
    gone = sum(pair.right is None for pair in found.breaks)
    new = sum(pair.left is None for pair in found.breaks)
    if gone:
        yield f"{count(gone, 'graph break')} gone"
    if new:
        yield f"{number(new)} new {agree(new, 'graph break', 'graph breaks')}"


def _counts(found: RunComparison, told: dict[str, str]) -> Iterator[str]:
    for name, one in told.items():
        figure = found.figure(name)
        if (figure.left is None) != (figure.right is None):
            yield f"no {one}s on the {'left' if figure.left is None else 'right'}"
        elif figure.differs and figure.left is not None and figure.right is not None:
            more = int(figure.right - figure.left)
            noun = agree(abs(more), one, f"{one}s")
            yield f"{number(abs(more))} {'more' if more > 0 else 'fewer'} {noun}"


def _captured(found: RunComparison) -> Iterator[str]:
    """Yield how captured nodes changed; if none changed, whether later graphs differ."""
    graphs = [graph for pair in found.compilations for graph in pair.graphs]
    totals: Counter[str] = Counter()
    for graph in graphs:
        if graph.stage == GRAPH and graph.left and graph.right:
            totals.update(graph.changes)
    told = [f"{number(totals[change])} {verb}" for change, verb in VERBS.items() if totals[change]]
    if told:
        first, *rest = told
        how_many, verb = first.split(" ")
        yield ", ".join([f"{how_many} captured {'node' if how_many == '1' else 'nodes'} {verb}", *rest])
    elif any(not graph.same for graph in graphs if graph.left and graph.right):
        yield "what Dynamo captured is the same, what was made of it is not"


def _guards(found: RunComparison) -> Iterator[str]:
    """Yield how many guards were added or removed; if the counts are equal, how many guards differ."""
    more = [*_counts(found, {"guards": "guard"})]
    others = sum(len(item.guards.only_right) for item in found.compilations if item.guards)
    if more or not others:
        yield from more
    else:
        yield f"{count(others, 'guard')} {agree(others, 'differs', 'differ')}"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _kernels(found: RunComparison) -> Iterator[str]:
    """Yield how many kernels differ, among matched kernels or all kernels if both runs have the same number.

    Library calls are compared only if all generated kernels are equal.
    """
    kernels = found.figure("kernels")
    as_many = kernels.left == kernels.right
    every = [pair for item in found.compilations if item.kernels for pair in item.kernels.pairs]
    pairs = [pair for pair in every if pair.both or as_many]
    for extern, noun in ((False, "generated kernel"), (True, "library call")):
        mine = [pair for pair in pairs if pair.either.extern == extern]
        unlike = sum(bool(pair.differs) or not pair.both for pair in mine)
        if unlike:
            yield f"{number(unlike)} of {count(len(mine), noun)} {agree(unlike, 'differs', 'differ')}"
            return


def _others(found: RunComparison) -> Iterator[str]:
    """Yield the remaining numbers that differ."""
    names = [figure.name for figure in found.figures if figure.differs]
    if names:
        yield f"{_listed(names)} {agree(len(names), 'differs', 'differ')}"


def _asked(found: RunComparison) -> list[str]:
    names = [item.name for item in found.options]
    return [*(["source"] if found.sources else []), *(["options"] if names else [])]


def _alike(found: RunComparison) -> str:
    """Return the aspects that are equal, for two runs without internal differences."""
    same = "breaks, graphs, guards and kernels are the same"
    asked = _asked(found)
    if asked:
        return f"{' and '.join(asked)} {'differs' if asked == ['source'] else 'differ'}, but {same}"
    whole = f"options, source, {same}" if found.sources is not None else same
    claimed = found.times is not None and (found.times.faster or found.times.slower)
    return whole if claimed else f"no difference: {whole}"
