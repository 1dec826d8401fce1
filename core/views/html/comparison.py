"""Sections of an HTML file about two runs: what the page Compare says, with graphs and differences of code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.base import words as fmt
from core.views.compare import CompareView, PairView
from core.views.html.graphs import Allowance, Drawings, Source
from core.views.html.page import (
    Bar,
    Bars,
    Block,
    Code,
    Drawing,
    Fold,
    HtmlChip,
    IntervalRow,
    Intervals,
    Listing,
    Section,
    folded,
    left_out,
    paragraph,
    section,
    spans,
    table,
)
from core.views.kernel_pairs import KernelPairsView, PairOfKernels
from core.views.markdown import LONGEST_LINE, code, one_line, plain
from core.views.overview import OutcomeView
from core.views.speedup import CompareTimes, RatioBar
from core.views.wire import stored

MOST_PAIRS = 4
MOST_KERNELS = 40
MOST_OPEN_ROWS = 12
COLOURS = {"eager": "var(--eager)", "compiled": "var(--compiled)"}
LANGUAGES = {"cpp": "cpp", "triton": "python"}
SECONDS = {"left": fmt.duration_s, "right": fmt.duration_s, "right over left": fmt.ratio}
KERNEL_SECONDS = {"left time": fmt.duration_s, "right time": fmt.duration_s}
NUMERIC = {*KERNEL_SECONDS, "registers", "spills", "shared memory", "occupancy", "bytes", "calls", "FLOPs"}
FRAMES_NOTE = "Three frames: left, both with the changes coloured, and right."
UNLIKE_NOTE = f"{CompareView.unlike} marks a certain difference. A value that was measured once has no interval."


@dataclass
class TwoRuns:
    """Two runs with logs, the room that is left in their file, and the data of its graphs."""

    left: Source
    right: Source
    compare: CompareView
    allowance: Allowance = field(default_factory=Allowance)
    drawings: Drawings = field(default_factory=Drawings)

    @classmethod
    def of(cls, left: Source, right: Source) -> TwoRuns:
        """Compare two runs."""
        return cls(left, right, CompareView(left.side, right.side))

    @property
    def chips(self) -> Iterator[HtmlChip]:
        """Yield the speed of the right run, and each number that certainly differs, from left to right."""
        rows = self.compare.figure_rows
        times = self.compare.times
        if times is not None and times.comparison.comparable and not times.unknown:
            yield from (HtmlChip(row["difference"], "", "", "speed") for row in rows if row[""] == "compiled call")
        for row in rows:
            if row[CompareView.unlike]:
                yield HtmlChip(f"{row['left']} → {row['right']}", row[""], "", "summary")

    def sections(self) -> Iterator[Section]:
        """Yield the sections that have something to show, and what was left out."""
        pairs = self.allowance.first("Pairs of compilations", self.compare.pairs, MOST_PAIRS)
        yield from section("summary", "Summary", self._summary())
        yield from section("source", "Source", self._source())
        yield from section("graphs", "Graphs", self._each(pairs, self._graphs))
        yield from section("kernels", "Kernels", self._each(pairs, self._kernels))
        yield from section("guards", "Guards", self._each(pairs, self._guards))
        yield from section(
            "graph_breaks", "Graph breaks", self._rows("Graph breaks", self.compare.break_rows, "graph break")
        )
        yield from section(
            "recompiles", "Recompiles", self._rows("Recompiles", self.compare.recompile_rows, "recompile")
        )
        yield from section("compile_time", "Compile time", self._phases())
        yield from section("speed", "Speed", self._speed())
        yield from section("missing", "Not in this file", left_out(self.allowance.left_out))

    def _each(self, pairs: Sequence[PairView], blocks: Callable[[PairView], Iterator[Block]]) -> Iterator[Block]:
        """Yield the blocks of each pair of compilations, folded below its ids if there are several."""
        if len(pairs) == 1:
            yield from blocks(pairs[0])
            return
        for number, pair in enumerate(pairs):
            name = f"\\[{pair.left}\\] and \\[{pair.right}\\] {code(pair.comparison.name)}"
            yield from folded(name, tuple(blocks(pair)), is_open=number == 0)

    def _summary(self) -> Iterator[Block]:
        for name, source in (("Left", self.left), ("Right", self.right)):
            outcome = OutcomeView(source.run.status(), source.report, source.run)
            yield from paragraph(f"**{name}**: {plain(title_of(source), LONGEST_LINE)}. {outcome.title}")
        yield from table(self.compare.figure_rows, ("left", "right"))
        yield from paragraph(UNLIKE_NOTE, "quiet")
        yield from table(self.compare.option_rows)
        if not self.compare.option_rows:
            yield from paragraph("The same options, on the same machine and torch.")
        for result in self.compare.results:
            yield from paragraph(result)

    def _source(self) -> Iterator[Block]:
        if self.compare.sources is None:
            yield from paragraph("The code cannot be compared: one of the logs does not contain it.", "quiet")
        for file in self.compare.sources or ():
            title = file.left if file.left == file.right else f"{file.left} → {file.right}"
            changes = f"{fmt.count(file.diff.added, 'line')} added, {fmt.number(file.diff.removed)} removed"
            yield self._listing(one_line(title, LONGEST_LINE), file.diff.text, "diff", changes, is_open=True)

    def _listing(self, title: str, text: str, language: str, detail: str = "", *, is_open: bool = False) -> Listing:
        return Listing(
            title, Code(self.allowance.excerpt(title, text), language), detail=one_line(detail), is_open=is_open
        )

    def _graphs(self, pair: PairView) -> Iterator[Block]:
        for graph_id, label in pair.stages.items():
            graph = next(each for each in pair.comparison.graphs if each.left == graph_id)
            if graph.same:
                continue
            title = f"[{pair.left}] {label}"
            blocks = [*self._drawing(pair, graph_id, title, sum(graph.changes.values()))]
            yield from folded(code(label), blocks, is_open=graph_id == pair.first_stage)
        alike = len(pair.stages) - pair.unlike_graphs()
        if alike:
            yield from paragraph(f"{fmt.count(alike, 'graph')} of the same stage: every node is the same in both.")
        yield from paragraph(f"{pair.lone_stages[:1].upper()}{pair.lone_stages[1:]}", "quiet")

    def _drawing(self, pair: PairView, graph_id: str, title: str, nodes: int) -> Iterator[Block]:
        union = pair.union(graph_id)
        if self.allowance.takes_graph(title, nodes):
            picture = stored(union.picture)
            frame, overlay = union.both_frame, union.overlay
            place = self.drawings.place(f"compare-{graph_id}", picture, overlay=overlay, frame=frame)
            yield from paragraph(FRAMES_NOTE, "quiet")
            yield Drawing(place, title)
        yield from self._rows(f"{title}: changes", union.change_rows, "change")

    def _kernels(self, pair: PairView) -> Iterator[Block]:
        kernels = KernelPairsView.of(self.left.side, pair.left, self.right.side, pair.right)
        if kernels is None or not kernels.pairs:
            return
        yield from paragraph(plain(kernels.title))
        yield from paragraph(kernels.times, "quiet")
        rows = [_words(each.row, KERNEL_SECONDS) for each in kernels.pairs.values()]
        yield from table(self.allowance.first(f"Kernels of [{pair.left}]", rows), NUMERIC)
        unlike = [each for each in kernels.pairs.values() if each.differs]
        for each in self.allowance.first(f"Kernels of [{pair.left}] that differ", unlike, MOST_KERNELS):
            yield Fold(spans(each.title), tuple(self._kernel(each)))

    def _kernel(self, pair: PairOfKernels) -> Iterator[Block]:
        yield from table(pair.rows)
        diff = pair.diff
        if diff is not None and diff.text:
            yield from paragraph(pair.diff_note, "quiet")
            yield self._listing("Difference of the generated sources", diff.text, "diff", is_open=True)
        for source in pair.sources if diff is None else ():
            if source.text:
                language = LANGUAGES.get(source.language, "text")
                yield self._listing(source.name, source.text, language, f"on the {source.side}", is_open=True)

    def _guards(self, pair: PairView) -> Iterator[Block]:
        yield from paragraph(pair.guards_sentence)
        yield from self._rows(f"Guards of [{pair.left}]", pair.guard_rows, "guard")

    def _rows(
        self, what: str, rows: Sequence[dict[str, str]], noun: str, numeric: Iterable[str] = ()
    ) -> Iterator[Block]:
        """Yield a table; a long one is folded below the number of its rows."""
        blocks = (*table(self.allowance.first(what, rows), numeric),)
        if len(rows) > MOST_OPEN_ROWS:
            yield from folded(fmt.count(len(rows), noun), blocks)
        else:
            yield from blocks

    def _phases(self) -> Iterator[Block]:
        yield from self._rows("Phases", [_words(row, SECONDS) for row in self.compare.phase_rows], "phase", SECONDS)
        if self.compare.phase_rows:
            yield from paragraph(self.compare.phases_note, "quiet")

    def _speed(self) -> Iterator[Block]:
        for side in self.compare.unmeasured:
            yield from paragraph(f"The {side} run was not measured, so calls are not compared.", "quiet")
        if self.compare.times is not None:
            yield from _times(self.compare.times)


def title_of(source: Source) -> str:
    """Return the name of a run, otherwise its title."""
    return source.run.name() or source.run.status().title or source.run.id


def _words(row: Mapping[str, object], forms: Mapping[str, Callable[[float], str]]) -> dict[str, str]:
    """Return a row as text; numbers are written by the column's form, and unknown values are empty."""
    return {name: forms[name](value) if isinstance(value, float) else str(value or "") for name, value in row.items()}


def _times(times: CompareTimes) -> Iterator[Block]:
    yield from paragraph(plain(times.unknown or times.claim))
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
    yield Bars("Median time of a call in the steady state, with quartiles", tuple(bars))
    ratios = [ratio for ratio in times.ratios if ratio.low > 0 and math.isfinite(ratio.high)]
    if ratios and not times.unknown:
        yield _ratios(ratios)
    yield from paragraph(plain(times.method), "quiet")


def _ratios(ratios: Sequence[RatioBar]) -> Intervals:
    """Return speedups of the right run on a logarithmic axis that contains 1."""
    bounds = [math.log(bound) for ratio in ratios for bound in (ratio.low, ratio.high)]
    low, high = min(0.0, *bounds), max(0.0, *bounds)
    margin = 0.05 * (high - low) or 1.0

    def place(ratio: float) -> float:
        return (math.log(ratio) - low + margin) / (high - low + 2 * margin)

    rows = (
        IntervalRow(ratio.name, ratio.words, place(ratio.low), place(ratio.middle), place(ratio.high), ratio.claim)
        for ratio in ratios
    )
    return Intervals(
        "Speedup of the right run over the left, log; the line is at 1, no difference", place(1), tuple(rows)
    )
