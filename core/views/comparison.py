"""Comparison of two runs in words: the worst difference as a title, and all differences."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

from core.analysis.comparison.figures import AT_LEAST, BREAKS, NOT_RECORDED, TimeComparison
from core.analysis.comparison.kernels import COUNTED, FUSION, SAME_LIBRARY_CALLS, Comparison, KernelPair
from core.analysis.comparison.run import RunComparison
from core.analysis.interval import NOT_MEASURABLE, Interval
from core.base.words import agree, count, duration_s, log_ticks, number, ratio, ratio_tick, word_list
from core.job import CompileJob, CompileOptions
from core.views.blocks import IntervalRow, Intervals
from core.views.markdown import sentence
from core.views.verdict import first_parts, title

# Numbers reported with "more" or "fewer" → their noun in the singular.
NOUNS = {"recompiles": "recompile", "graphs": "graph", "kernels": "kernel"}
# Verb for each change of a node from the left to the right.
VERBS = {"only right": "added", "only left": "removed", "changed": "changed", "moved": "moved"}
GRAPH = "dynamo_output_graph"
NO_SPEED = "no difference in speed seen"
HOW = (
    "The runs were measured one after the other in separate processes, so the machine may have changed between them. "
    "The interval spans two estimates: the ratio of seconds, and the ratio of the speedups over eager, which a slower "
    "machine does not change. Each has 99 % confidence by the Mann-Whitney test over blocks of samples. Below 2 % no "
    "difference is claimed."
)
DRIFTED = "compared by speedup over eager, because eager itself took different times"


def comparison_sentence(comparison: RunComparison) -> str:
    """Return the worst difference of the right run from the left run in a sentence.

    Failures and wrong results are worse than a slow-down, that than graph breaks and recompiles, and those than a
    speedup and other differences.
    """
    failed, events, times = [*_failure_differences(comparison)], [*_event_words(comparison)], comparison.times
    claimed = times is not None and times.interval is not None and times.comparable
    if failed:
        return title(failed[0])
    if times is not None and claimed and times.slower:
        return title(first_parts([f"the right run is {speed_words(times)}", *events]))
    if times is not None and claimed and times.faster:
        return title(first_parts([f"the right run is {speed_words(times)}", *(events or _parts(comparison))]))
    return title(first_parts(_parts(comparison) or [_equal_aspects(comparison)]))


def all_differences(comparison: RunComparison) -> list[str]:
    """Return all differences of the right run from the left run, with its speed, in words."""
    parts = _parts(comparison) or [_equal_aspects(comparison)]
    return [*parts, *times_words(comparison.times)]


def differences_line(comparison: RunComparison) -> str:
    """Return all differences in one sentence; empty if the title has them."""
    parts = _parts(comparison) or [_equal_aspects(comparison)]
    line = sentence("; ".join([", ".join(parts), *times_words(comparison.times)]))
    return line if line != comparison_sentence(comparison) else ""


def comparison_data(comparison: RunComparison) -> dict[str, Any]:
    """Return a comparison as JSON-compatible data, with its title and its differences in words."""
    names = [field.name for field in fields(comparison)]
    words = {"sentence": comparison_sentence(comparison), "differences": all_differences(comparison)}
    return {**words, **{name: getattr(comparison, name) for name in names}}


def _event_words(comparison: RunComparison) -> Iterator[str]:
    yield from _break_words(comparison)
    yield from _count_words(comparison, {"recompiles": NOUNS["recompiles"]})


def _parts(comparison: RunComparison) -> list[str]:
    inside = [
        *_count_words(comparison, NOUNS),
        *_capture_words(comparison),
        *_kernel_words(comparison),
        *_guard_words(comparison),
    ]
    return [*_failure_differences(comparison), *_break_words(comparison), *inside] or [*_differing_numbers(comparison)]


def times_words(times: TimeComparison | None) -> list[str]:
    """Return the speedup of the right run's compiled call in words, or why it is unknown."""
    if times is None:
        return []
    if times.interval is None:
        return [f"speed unknown: {times.why_not}"]
    if not times.comparable:
        return [f"speed {times.why_not}"]
    doubts = [DRIFTED] if times.drifted else []
    return [speed_words(times), *doubts]


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
    failures, results = comparison.failures, comparison.results
    for side, index in (("right", 1), ("left", 0)):
        if failures[index] and failures[index] != failures[1 - index]:
            yield f"on the {side}: {failures[index]}"
        if results[index] == "differs" and results[1 - index] != "differs":
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
        yield f"{word_list(names)} {agree(len(names), 'differs', 'differ')}"


def _differing_inputs(comparison: RunComparison) -> list[str]:
    names = [difference.name for difference in comparison.options]
    return [*(["source"] if comparison.sources else []), *(["options"] if names else [])]


def _equal_aspects(comparison: RunComparison) -> str:
    """Describe the equal aspects of two runs that differ at most in options, source and times."""
    unrecorded = [figure for figure in comparison.figures if NOT_RECORDED in (figure.left_told, figure.right_told)]
    names = ["breaks" if figure.name == BREAKS else figure.name for figure in unrecorded]
    equal = [name for name in ("breaks", "graphs", "guards", "kernels") if name not in names]
    same = f"{word_list(equal)} {agree(len(equal), 'is', 'are')} the same"
    if names:
        same += f", {word_list(names)} {agree(len(names), 'was', 'were')} not recorded"
    inputs = _differing_inputs(comparison)
    if inputs:
        return f"{' and '.join(inputs)} {'differs' if inputs == ['source'] else 'differ'}, but {same}"
    aspects = f"options, source, {same}" if comparison.sources is not None else same
    claimed = comparison.times is not None and (comparison.times.faster or comparison.times.slower)
    return aspects if claimed else f"no difference: {aspects}"


def kernels_sentence(comparison: Comparison) -> str:
    """Return the differences of kernels in words."""
    both = [pair for pair in comparison.pairs if pair.both and not pair.either.extern]
    same = [pair for pair in both if "language" not in pair.differs]
    parts = [
        *_kernel_fusion(comparison.pairs, both),
        *_kernels_elsewhere(comparison.pairs),
        *_kernel_languages(both),
        *_kernel_counts(same),
        *_kernel_texts(same),
    ]
    functions = sum("function" in pair.differs for pair in comparison.pairs)
    if functions:
        parts.append(f"{count(functions, 'extern call')} {agree(functions, 'is', 'are')} of another function")
    text = "; ".join(parts or [SAME_LIBRARY_CALLS] * bool(comparison.pairs))
    return f"{text[0].upper()}{text[1:]}." if text else "Neither side has a kernel."


def _kernel_fusion(pairs: Sequence[KernelPair], both: Sequence[KernelPair]) -> Iterator[str]:
    differing = sum(FUSION in pair.differs for pair in both)
    only = {
        "left": sum(pair.right is None for pair in pairs),
        "right": sum(pair.left is None for pair in pairs),
    }
    if both and not differing and not any(only.values()):
        yield "fusion is the same"
    if differing:
        verb = agree(differing, "fuses", "fuse")
        yield f"of {count(len(both), 'matched generated kernel')}, {number(differing)} {verb} different ops"
    for side, many in only.items():
        if many:
            yield f"{count(many, 'kernel')} {agree(many, 'is', 'are')} only on the {side}"


def _kernels_elsewhere(pairs: Sequence[KernelPair]) -> Iterator[str]:
    moved = sum(pair.elsewhere for pair in pairs)
    if moved:
        yield f"{count(moved, 'kernel')} {agree(moved, 'is', 'are')} in another compilation of the other run"


def _kernel_languages(both: Sequence[KernelPair]) -> Iterator[str]:
    names = {"cpp": "C++", "triton": "Triton"}
    languages = Counter(
        (p.left.language, p.right.language) for p in both if p.left and p.right and "language" in p.differs
    )
    for (left_language, right_language), many in languages.items():
        verb = agree(many, "is", "are")
        left, right = names.get(left_language, left_language), names.get(right_language, right_language)
        yield f"{count(many, 'kernel')} {verb} {left} on the left and {right} on the right"


def _kernel_counts(pairs: Sequence[KernelPair]) -> Iterator[str]:
    """Yield how many of the comparable pairs differ in config, tiling and used device resources."""
    if not pairs:
        return
    counts = {name: sum(name in pair.differs for pair in pairs) for name in COUNTED}
    differing = [(name, many) for name, many in counts.items() if many]
    if not differing and any(pair.left and pair.right and pair.left.config and pair.right.config for pair in pairs):
        yield "no config, register or shared memory differs"
    for index, (name, many) in enumerate(differing):
        of = f" of {count(len(pairs), 'kernel')}" if index == 0 else ""
        verbs = ("has another", "have another") if name in ("tiling", "config") else ("differs in", "differ in")
        yield f"{number(many)}{of} {agree(many, *verbs)} {name}"


def _kernel_texts(pairs: Sequence[KernelPair]) -> Iterator[str]:
    same = [pair.same_text for pair in pairs if pair.same_text is not None]
    if same and all(same):
        yield "the generated source is identical"
    elif same:
        yield f"the generated source is identical in {number(sum(same))} of {number(len(same))} kernels"


class MedianBar(NamedTuple):
    """Median seconds of a call, with quartiles.

    `kind` is "eager" or "compiled", `side` is "left" or "right".
    """

    kind: str
    side: str
    median_s: float
    quartiles_s: tuple[float, float]


class RatioBar(NamedTuple):
    """A ratio with its interval and its samples; `claim` is True if the claim is based on this ratio."""

    name: str
    middle: float
    low: float
    high: float
    claim: bool
    samples: tuple[float, ...] = ()

    @property
    def words(self) -> str:
        """The ratio with its bounds, and the range of its samples."""
        words = ratio(self.middle, (self.low, self.high))
        if not self.samples:
            return words
        return f"{words}; {count(len(self.samples), 'pair')}, {number(min(self.samples))}–{ratio(max(self.samples))}"


@dataclass(frozen=True)
class CompareTimes:
    """The compiled calls of two measured runs."""

    ratio_title: ClassVar[str] = "Speedup of the right run over the left"
    together_help: ClassVar[str] = (
        "A new run times both compiled calls interleaved in one process. This shows differences that are smaller than "
        "the drift between two processes."
    )

    comparison: TimeComparison

    @property
    def method(self) -> str:
        """The seconds of both runs, and the method of the comparison."""
        return f"{seconds_words(self.comparison)}. {HOW}"

    @property
    def unknown(self) -> str:
        """A sentence about why there is no ratio; empty if there is one."""
        return sentence(self.comparison.why_not)

    @property
    def claim(self) -> str:
        """The claim that the intervals allow."""
        return sentence(speed_words(self.comparison))

    @property
    def medians(self) -> list[MedianBar]:
        """Seconds of an eager and a compiled call on either side."""
        return [
            bar
            for side, speed in (("right", self.comparison.right), ("left", self.comparison.left))
            for bar in (
                MedianBar("eager", side, speed.eager_s, speed.eager_quartiles_s),
                MedianBar("compiled", side, speed.compiled_s, speed.compiled_quartiles_s),
            )
        ]

    @property
    def ratios(self) -> list[RatioBar]:
        """Speedups of the right run, by each estimate that is known."""
        times = self.comparison
        estimates: list[tuple[str, Interval | None, bool]] = [
            ("eager itself", times.eager, False),
            ("against its own eager", times.against_eager, False),
            ("by seconds", times.seconds, times.against_eager is None),
            ("both: the claim", times.interval if times.against_eager else None, True),
        ]
        return [
            RatioBar(name, interval.middle, interval.low, interval.high, claim)
            for name, interval, claim in estimates
            if interval is not None
        ]

    def together(self, left: CompileJob, right: CompileJob) -> CompileJob | None:
        """Return the job that times both compiled calls interleaved in one process.

        None if the compile settings are equal, if the left job has a target, or if the jobs differ in more than
        settings for compiling, measuring and limits.
        """
        if left.target or left.compile == right.compile or _workload(left) != _workload(right):
            return None
        return replace(left, measure=True, rival=right.compile)


def _workload(job: CompileJob) -> CompileJob:
    """Return a job without its settings for compiling, measuring and limits."""
    return replace(
        job, compile=CompileOptions(), rival=None, measure=True, memory=False, numerics="", sweep="",
        time_limit_s=1.0, memory_limit_bytes=1, from_file=None,
    )  # fmt: skip


def ratio_intervals(label: str, estimates: Sequence[RatioBar]) -> Iterator[Intervals]:
    """Yield ratios on a logarithmic axis that contains 1, under a label."""
    ratios = [ratio for ratio in estimates if ratio.low > 0 and math.isfinite(ratio.high)]
    if not ratios:
        return
    bounds = [math.log(bound) for ratio in ratios for bound in (ratio.low, ratio.high, *ratio.samples)]
    low, high = min(0.0, *bounds), max(0.0, *bounds)
    margin = 0.05 * (high - low) or 1.0

    def place(ratio: float) -> float:
        return (math.log(ratio) - low + margin) / (high - low + 2 * margin)

    rows = (
        IntervalRow(
            *(each.name, each.words, place(each.low), place(each.middle), place(each.high)),
            each.claim,
            tuple(map(place, each.samples)),
        )
        for each in ratios
    )
    ticks = ((place(tick), ratio_tick(tick)) for tick in log_ticks(math.exp(low - margin), math.exp(high + margin)))
    yield Intervals(f"{label}, log; the line is at 1, no difference", place(1), tuple(rows), tuple(ticks))
