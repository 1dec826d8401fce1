"""Comparison of two runs: its aspects as blocks, matched compilations, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import takewhile
from typing import Any, TypeVar

from core.analysis.comparison.figures import Figure, PhasePair
from core.analysis.comparison.matching import MatchedPair, OptionDifference, RunSide, SourceDifference
from core.analysis.comparison.run import CachePair, KeyDifference, compare_runs
from core.analysis.durations import phase_class, phase_totals
from core.analysis.speed import speed
from core.base import words as fmt
from core.report import CacheEvent, GraphBreak, Recompile, Report
from core.views.blocks import (
    UNLIKE,
    Bar,
    Bars,
    Beside,
    Code,
    Column,
    Data,
    Drawn,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Pane,
    Panes,
    Table,
    Text,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.comparison import (
    CompareTimes,
    comparison_data,
    comparison_sentence,
    differences_line,
    ratio_intervals,
    seconds_words,
    speed_words,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from core.views.pairs import UNKNOWN, KernelPairsView, PairView, common_nodes, graphs, guards, kernel_pairs, kernels
from core.views.texts import SourceView

__all__ = ["ASPECTS", "CompareView", "PairView", "aspects", "comparison", "comparison_head"]

MARK_NOTE = (
    f"{UNLIKE} marks a certain difference. A value that was measured once has no interval, so no difference is claimed."
)
ONCE = "measured once"
# Letters before the difference of two long values.
BEFORE_DIFFERENCE = 20
MOST_PHASES = 40  #: phases of two runs beside each other
PHASES_NOTE = (
    "Seconds in which a phase was open, inner phases included, longest first. Measured once, with C++ objects from the "
    "cache, so no difference is claimed."
)
KEYS_NOTE = (
    "Torch logs the parts of an FX graph's key. It logs those of AOTAutograd's key only in recorded runs, or with "
    "`TORCH_LOGS=+torch._functorch._aot_autograd.autograd_cache`."
)
# Name of the selection, and parts that the page draws by hand.
ASPECT = "aspect"
CHOICE, AGAIN, COMMENTS, PHASES = "choice", "again", "comments", "phase-chart"
SECONDS, RATIOS, TOGETHER, MEASURE = "seconds-chart", "ratio-chart", "together", "measure"
# Pairs of compilations in an output that has several.
MOST_PAIRS = 4  #: pairs of compilations of an HTML file or a terminal's text about two runs
COLOURS = {"eager": "var(--eager)", "compiled": "var(--compiled)"}
# A run for another target, which *Targets* offers.
RETARGET = "retarget"
NO_OTHER: tuple[PageBlock, ...] = (
    Title(spans("There is no other run of this model yet")),
    Text(spans("Run it with other options, or generate code for another device, then compare both.")),
    Drawn(RETARGET),
)
Event = TypeVar("Event")
Blocks = Iterator[PageBlock]


def comparison(compare: CompareView, names: Iterable[str] = ()) -> Blocks:
    """Yield the comparison of two runs with all pairs of compilations; without `names`, all aspects."""
    yield from comparison_head(compare)
    yield aspects(compare, names=names)


def comparison_head(compare: CompareView) -> Iterator[PageBlock]:
    """Yield the comparison in one sentence, and the choice of the runs."""
    yield Title(spans(compare.title))
    yield from paragraph(compare.differences, "quiet")
    yield from paragraph(compare.nodes_warning, "warn")
    yield Drawn(CHOICE)


def targets(kernels: KernelPairsView | None, right_id: str) -> Blocks:
    """Yield the kernels of two runs, if any: the comparison in one sentence, both sides, and all pairs."""
    if kernels is None:
        yield Title(spans("The run on the right has no kernel to compare with"))
        yield Drawn(CHOICE)
        yield Text(spans("It failed before code generation, or its backend is not `inductor`. Choose another run."))
        return
    yield Title(spans(kernels.title), GLOSSARY["kernel"])
    yield Beside((Text(spans(kernels.left)),), (Drawn(CHOICE), Text(spans(kernels.right))))
    yield PageLink("compare", "All differences", {"other": right_id})
    yield from kernel_pairs(kernels)


def aspects(compare: CompareView, compile_id: str | None = None, names: Iterable[str] = ()) -> Panes:
    """Return the aspects of a comparison; the titles have the number of differences: "kernels · 3".

    Without the id of a compilation of the left run, they have all pairs of compilations, up to `MOST_PAIRS`.
    """
    pair = compare.pair(compile_id or "")
    pairs = compare.pairs if compile_id is None else [pair] if pair else []
    wanted = {*names} or {*ASPECTS}
    beside = (Data("comparison", compare.data), Drawn(AGAIN))
    shown = tuple(pane for pane in _panes(compare, pairs, compile_id or "") if pane.name in wanted)
    return Panes(ASPECT, "Aspect", shown, beside)


def _panes(compare: CompareView, pairs: Sequence[PairView], wanted: str) -> Iterator[Pane]:
    for name, (count, blocks) in ASPECTS.items():
        differences = count(compare, pairs)
        title = f"{name} · {fmt.number(differences)}" if differences else name
        yield Pane(name, title, partial(blocks, compare, pairs, wanted))


class CompareView:
    """The differences of the right run from the left run."""

    no_choice = "Choose a run to compare with"

    def __init__(self, left: RunSide, right: RunSide, nodes: tuple[str, str] = ("", "")) -> None:
        """Compare two runs; `nodes` are the names of the machines that executed them, empty for the server."""
        self.left, self.right, self._nodes = left, right, nodes
        self.comparison = compare_runs(left, right)

    @cached_property
    def title(self) -> str:
        """The worst difference in one sentence, as Markdown."""
        return plain(comparison_sentence(self.comparison), LONGEST_TEXT)

    @property
    def differences(self) -> str:
        """All differences in one sentence, as Markdown; empty if the title has them."""
        return plain(differences_line(self.comparison))

    @property
    def nodes_warning(self) -> str:
        """A sentence if two machines executed the runs, as Markdown; empty for a single machine."""
        left, right = (plain(node or "the server", LONGEST_LINE) for node in self._nodes)
        return f"Executed on {left} and on {right}, so seconds differ by machine." if left != right else ""

    @cached_property
    def data(self) -> dict[str, Any]:
        """The comparison as JSON-compatible data."""
        return comparison_data(self.comparison)

    @cached_property
    def pairs(self) -> list[PairView]:
        """Compilations of the left run with a counterpart, most nodes in common stages first."""
        both = (pair for pair in self.comparison.compilations if pair.left and pair.right)
        return [PairView(pair, self.left, self.right) for pair in sorted(both, key=lambda pair: -common_nodes(pair))]

    def pair(self, compile_id: str) -> PairView | None:
        """Return the pair of a left compilation; by default the first pair, None if there are no pairs."""
        return next((pair for pair in self.pairs if pair.left == compile_id), next(iter(self.pairs), None))

    def difference(self, figure: Figure) -> str:
        """Return the difference of a number, if it is certain, or why there is none."""
        times = self.comparison.times
        if figure.left is None and figure.right is None:
            return ""
        if (figure.left is None and figure.left_told) or (figure.right is None and figure.right_told):
            return ""
        if figure.left is None or figure.right is None:
            return f"only on the {'left' if figure.right is None else 'right'}"
        if figure.name == "compiled call" and times is not None and times.interval is not None:
            return speed_words(times)
        if not figure.exact:
            return ONCE if figure.name in ("compile time", "first compiled call") else ""
        more = figure.right - figure.left
        return f"{'+' if more > 0 else '−'}{figure.words(abs(more))}" if more else ""

    @property
    def results(self) -> Iterator[str]:
        """Each run's results compared with eager, and its failures, as Markdown."""
        outcomes = zip(("Left", "Right"), self.comparison.results, self.comparison.failures, strict=True)
        for side, outcome, failure in outcomes:
            more = f"; {plain(failure, LONGEST_LINE)}" if failure else ""
            yield f"**{side}**: results against eager: {outcome or 'not compared'}{more}."

    @property
    def seconds(self) -> str:
        """A sentence about the seconds of both runs; empty if one of them was not measured."""
        times = self.comparison.times
        return f"{seconds_words(times)}." if times is not None else ""

    @property
    def phase_seconds(self) -> dict[str, Mapping[str, float]]:
        """Compile time of each run in seconds by phase class; overlapping phases are counted once."""
        return {"right": _seconds_by_class(self.right.report), "left": _seconds_by_class(self.left.report)}

    @cached_property
    def times(self) -> CompareTimes | None:
        """The speed of the two compiled calls; None if one of the runs was not measured."""
        return CompareTimes(self.comparison.times) if self.comparison.times is not None else None

    @property
    def unmeasured(self) -> list[str]:
        """The sides whose steady state was not measured: "left", "right"."""
        sides = {"left": self.left.report, "right": self.right.report}
        return [name for name, report in sides.items() if speed(report.timing) is None]

    @cached_property
    def key_differences(self) -> dict[KeyDifference, list[CachePair]]:
        """Each part in which cache keys differ, with the lookups whose keys have it."""
        differences: dict[KeyDifference, list[CachePair]] = {}
        for pair in self.comparison.caches:
            for difference in pair.differences or ():
                differences.setdefault(difference, []).append(pair)
        return differences

    @property
    def cache_verdict(self) -> str:
        """The first difference of the keys in one sentence, as Markdown."""
        pairs = self.comparison.caches
        if not pairs:
            return "No cache lookup is recorded in either run."
        if first := next(iter(self.key_differences), None):
            more = len(self.key_differences) - 1
            ending = f", and {fmt.count(more, 'more part')}" if more else ""
            return f"**The keys differ in {_part_words(first)}**{ending}."
        if any(pair.differences is None and not pair.same_key for pair in pairs):
            return "No part of a key is known to differ: a lookup had no key, or a log lacks the parts of its key."
        return "**All keys are equal.** A miss with an equal key means that no process had saved that entry."

    def unlike_events(self) -> int:
        """Count the graph breaks and recompiles that only one of the runs has."""
        comparison = self.comparison
        return sum(not pair.both for pair in comparison.breaks) + sum(not pair.both for pair in comparison.recompiles)


def source_title(file: SourceDifference) -> str:
    """Return the paths of a file on both sides; a single path if they are equal."""
    return one_line(file.left if file.left == file.right else f"{file.left} → {file.right}", LONGEST_LINE)


def _each(pairs: Sequence[PairView], wanted: str, blocks: Callable[[PairView], Iterable[PageBlock]]) -> Blocks:
    """Yield the blocks of each pair of compilations; several pairs are folded below their ids."""
    if not pairs:
        yield from paragraph("Nothing to compare: no compilation of one run matches one of the other.")
    elif len(pairs) == 1:
        yield from paragraph(pairs[0].no_match(wanted) if wanted not in ("", pairs[0].left) else "", "quiet")
        yield from blocks(pairs[0])
    for number, pair in enumerate(pairs[:MOST_PAIRS] if len(pairs) > 1 else ()):
        name = f"\\[{pair.left}\\] and \\[{pair.right}\\] {code(pair.comparison.name)}"
        yield from folded(name, tuple(blocks(pair)), is_open=number == 0)
    if len(pairs) > MOST_PAIRS:
        yield from paragraph(f"{fmt.count(len(pairs) - MOST_PAIRS, 'more pair')} of compilations", "quiet")


def _summary(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    difference: Column[Figure] = Column("difference", compare.difference, width=210)
    figures: Table[Figure] = Table("figures", (*FIGURE_COLUMNS, difference), compare.comparison.figures)
    options = compare.comparison.options
    settings = (
        (Table("options", OPTION_COLUMNS, options),)
        if options
        else paragraph("The same options, on the same machine and torch.")
    )
    results = (Text(spans(result)) for result in compare.results)
    yield Beside(
        (figures, *paragraph(MARK_NOTE, "quiet")),
        (Heading("Options"), *settings, *results, *paragraph(plain(compare.seconds), "quiet")),
        shares=(3, 2),
    )
    yield Drawn(COMMENTS)


def _source(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    if compare.comparison.sources is None:
        yield from paragraph("The code cannot be compared: one of the logs does not contain it.")
    elif not compare.comparison.sources:
        yield from paragraph("The code is identical.", "ok")
    for file in compare.comparison.sources or ():
        changes = f"{fmt.count(file.diff.added, 'line')} added, {fmt.number(file.diff.removed)} removed"
        yield Text(spans(f"**{plain(source_title(file), LONGEST_LINE)}**: {changes}."))
        yield Listing(source_title(file), Code(file.diff.text, "diff"), is_open=True)
        yield from paragraph(SourceView.more_lines(file.diff.left_out) if file.diff.left_out else "", "quiet")


def _events(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    comparison = compare.comparison
    yield Heading("Graph breaks")
    yield from _table("breaks", BREAK_COLUMNS, unlike_first(comparison.breaks), "Neither run has a graph break.")
    yield Heading("Recompiles")
    yield from _table(
        "recompiles", RECOMPILE_COLUMNS, unlike_first(comparison.recompiles), "Neither run has a recompile."
    )


def _table(name: str, columns: tuple[Column[Any], ...], rows: Sequence[Any], none: str) -> Blocks:
    if rows:
        yield Table(name, columns, rows)
    else:
        yield from paragraph(none)


def _phases(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    phases = compare.comparison.phases[:MOST_PHASES]
    if not phases:
        yield from paragraph("Neither log contains phases.")
        return
    sides = compare.phase_seconds
    classes = [*dict.fromkeys((*sides["left"], *sides["right"]))]
    seconds = (Column(side, sides[side].get, fmt.duration_s) for side in ("left", "right"))
    columns: tuple[Column[str], ...] = (Column("class of phase", str), *seconds)
    yield Drawn(PHASES, (Table("phase classes", columns, classes),))
    yield Table("phases", PHASE_COLUMNS, phases)
    yield from paragraph(PHASES_NOTE, "quiet")


def _caches(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    yield Text(spans(compare.cache_verdict))
    parts = list(compare.key_differences.items())
    if parts:
        yield Table("parts of the keys", PART_COLUMNS, parts)
    if compare.comparison.caches:
        yield Table("lookups", LOOKUP_COLUMNS, compare.comparison.caches)
        yield from paragraph(KEYS_NOTE, "quiet")


def _differing(part: KeyDifference) -> tuple[str, str]:
    """Return both values of a part, without a long beginning that they share."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(part.left, part.right, strict=False)))
    at = same - BEFORE_DIFFERENCE if same > LONGEST_NAME - BEFORE_DIFFERENCE else 0
    left, right = (f"…{value[at:]}" if at else value or UNKNOWN for value in (part.left, part.right))
    return left, right


def _part_words(part: KeyDifference) -> str:
    values = " → ".join(code(value, LONGEST_NAME) for value in _differing(part))
    variable = f" (set by {code(part.variable, LONGEST_NAME)})" if part.variable else ""
    return f"{part.kind} {code(part.name, LONGEST_NAME)}: {values}{variable}"


def _lookup(event: CacheEvent | None) -> str:
    if event is None:
        return UNKNOWN
    return one_line(f"{event.outcome}: {event.reason}" if event.reason else event.outcome, LONGEST_LINE)


def _key_words(pair: CachePair) -> str:
    if pair.same_key:
        return "equal"
    if not (pair.left and pair.right and pair.left.key and pair.right.key):
        return "no key"
    return (
        "parts not recorded" if pair.differences is None else f"differs in {fmt.count(len(pair.differences), 'part')}"
    )


def _speed(compare: CompareView, _: Sequence[PairView], __: str) -> Blocks:
    for side in compare.unmeasured:
        yield from paragraph(f"The {side} run was not measured, so calls are not compared.")
    if compare.times is None:
        yield Drawn(MEASURE)
        return
    times = compare.times
    yield from paragraph(plain(times.method), "quiet")
    claim: tuple[PageBlock, ...] = (*paragraph(plain(times.unknown)), Drawn(TOGETHER))
    if not times.unknown:
        ratios = Drawn(RATIOS, tuple(ratio_intervals("Speedup of the right run over the left", times.ratios)))
        claim = (ratios, *paragraph(plain(times.claim), "quiet"), Drawn(TOGETHER))
    if times.comparison.disturbed:
        yield from claim
    else:
        seconds = (Heading("Seconds of a call"), Drawn(SECONDS, (_medians(times),)))
        yield Beside(seconds, (Heading(times.ratio_title), *claim))


def _medians(times: CompareTimes) -> Bars:
    longest = max(bar.quartiles_s[1] for bar in times.medians) or 1.0
    bars = (
        Bar(
            f"{bar.kind}, {bar.side}",
            fmt.duration_s(bar.median_s),
            bar.median_s / longest,
            bar.quartiles_s[0] / longest,
            bar.quartiles_s[1] / longest,
            COLOURS[bar.kind],
        )
        for bar in sorted(times.medians, key=lambda bar: (bar.kind, bar.side))
    )
    return Bars("Median time of a call in the steady state, with quartiles", tuple(bars))


def _of_pairs(blocks: Callable[[PairView], Blocks]) -> Aspect:
    return lambda _, pairs, wanted: _each(pairs, wanted, blocks)


Aspect = Callable[[CompareView, Sequence[PairView], str], Blocks]
# Aspect → function that counts the differences of two runs, and function that yields its blocks.
ASPECTS: dict[str, tuple[Callable[[CompareView, Sequence[PairView]], int], Aspect]] = {
    "summary": (lambda _, __: 0, _summary),
    "source": (lambda compare, _: len(compare.comparison.sources or ()), _source),
    "graphs": (lambda _, pairs: sum(pair.unlike_graphs() for pair in pairs), _of_pairs(graphs)),
    "kernels": (lambda _, pairs: sum(pair.unlike_kernels() for pair in pairs), _of_pairs(kernels)),
    "guards": (lambda _, pairs: sum(pair.unlike_guards() for pair in pairs), _of_pairs(guards)),
    "breaks and recompiles": (lambda compare, _: compare.unlike_events(), _events),
    "compile time": (lambda _, __: 0, _phases),
    "caches": (lambda compare, _: len(compare.key_differences), _caches),
    "speed": (lambda _, __: 0, _speed),
}


def unlike_first(pairs: Sequence[MatchedPair[Event]]) -> list[tuple[MatchedPair[Event], Event]]:
    """Return each pair with one of its events; pairs with an event in only one run come first."""
    ordered = sorted(pairs, key=lambda pair: pair.both)
    return [(pair, event) for pair in ordered if (event := pair.right or pair.left) is not None]


def _sides(pair: MatchedPair[Event]) -> str:
    return "both" if pair.both else "only left" if pair.left is not None else "only right"


def _place(graph_break: GraphBreak | None) -> str:
    return one_line(graph_break.place.short, LONGEST_LINE) if graph_break else UNKNOWN


def _times(graph_break: GraphBreak | None) -> str:
    return fmt.number(len(graph_break.compilations)) if graph_break else UNKNOWN


def _edge(recompile: Recompile | None) -> str:
    if recompile is None:
        return UNKNOWN
    return f"[{recompile.failed}] → [{recompile.compilation}]" if recompile.failed else f"[{recompile.compilation}]"


def _seconds_by_class(report: Report) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for total in phase_totals(report):
        kind = phase_class(total.name)
        seconds[kind] = seconds.get(kind, 0.0) + total.self_s
    return seconds


FIGURE_COLUMNS: tuple[Column[Figure], ...] = (
    Column("", lambda figure: figure.name, width=130),
    Column("left", lambda figure: figure.left_words, width=150),
    Column(UNLIKE, lambda figure: UNLIKE if figure.differs else "", width=30, marked=True),
    Column("right", lambda figure: figure.right_words, width=150),
)
OPTION_COLUMNS: tuple[Column[OptionDifference], ...] = (
    Column("option", lambda option: one_line(option.name, LONGEST_LINE)),
    Column("left", lambda option: one_line(option.left, LONGEST_LINE) or UNKNOWN),
    Column("right", lambda option: one_line(option.right, LONGEST_LINE) or UNKNOWN),
)
BREAK_COLUMNS: tuple[Column[tuple[MatchedPair[GraphBreak], GraphBreak]], ...] = (
    Column("in", lambda row: _sides(row[0])),
    Column("reason", lambda row: one_line(row[1].reason, LONGEST_LINE)),
    Column("line", lambda row: one_line(row[1].code, LONGEST_LINE)),
    Column("left", lambda row: _place(row[0].left)),
    Column("right", lambda row: _place(row[0].right)),
    Column("met", lambda row: f"{_times(row[0].left)} | {_times(row[0].right)}"),
)
RECOMPILE_COLUMNS: tuple[Column[tuple[MatchedPair[Recompile], Recompile]], ...] = (
    Column("in", lambda row: _sides(row[0])),
    Column("reason", lambda row: one_line(row[1].reason, LONGEST_LINE)),
    Column("left", lambda row: _edge(row[0].left)),
    Column("right", lambda row: _edge(row[0].right)),
    Column("line", lambda row: one_line(row[1].code, LONGEST_LINE)),
)
PART_COLUMNS: tuple[Column[tuple[KeyDifference, list[CachePair]]], ...] = (
    Column("kind", lambda row: row[0].kind),
    Column("part", lambda row: one_line(row[0].name, LONGEST_LINE)),
    Column("left", lambda row: one_line(_differing(row[0])[0], LONGEST_LINE)),
    Column("right", lambda row: one_line(_differing(row[0])[1], LONGEST_LINE)),
    Column("set by", lambda row: one_line(row[0].variable, LONGEST_NAME)),
    Column("in the keys of", lambda row: ", ".join(dict.fromkeys(pair.cache for pair in row[1]))),
)
LOOKUP_COLUMNS: tuple[Column[CachePair], ...] = (
    Column("cache", lambda pair: pair.cache),
    Column("compilation", lambda pair: next(event.compilation for event in (pair.left, pair.right) if event)),
    Column("left", lambda pair: _lookup(pair.left)),
    Column("right", lambda pair: _lookup(pair.right)),
    Column("key", _key_words),
)
PHASE_COLUMNS: tuple[Column[PhasePair], ...] = (
    Column("phase", lambda phase: one_line(phase.name, LONGEST_LINE)),
    Column("left", lambda phase: phase.left_s, fmt.duration_s),
    Column("right", lambda phase: phase.right_s, fmt.duration_s),
    Column(
        "right over left",
        lambda phase: phase.right_s / phase.left_s if phase.left_s and phase.right_s else None,
        fmt.ratio,
    ),
)
