"""HTML files of one run, or of two compared runs.

A file contains its style and script, and needs no server. Its policy allows only its own script (by digest),
inline styles, and `data:` and `blob:` images. The graphs' data is JSON with `<` escaped, so that no text of a
log can end its element. This module also builds the sections about two runs.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from core.base import words as fmt
from core.base.words import bytes_
from core.runs.store import Run
from core.views.blocks import (
    Bar,
    Bars,
    Block,
    Code,
    Drawing,
    Fold,
    IntervalRow,
    Intervals,
    Listing,
    folded,
    paragraph,
    spans,
)
from core.views.compare import CompareView, PairView
from core.views.header import HeaderView
from core.views.html.page import (
    Allowance,
    Drawings,
    Graphs,
    HtmlChip,
    HtmlPage,
    Section,
    Source,
    left_out,
    section,
    table,
)
from core.views.html.sections import COMMENTS, sections
from core.views.kernel_pairs import KernelPairsView, PairOfKernels
from core.views.markdown import LONGEST_LINE, code, one_line, plain
from core.views.overview import OutcomeView
from core.views.scrub import NOTHING, Scrubber
from core.views.speedup import CompareTimes, RatioBar
from core.views.wire import stored

HERE = Path(__file__).parent
# Control characters, lone surrogates, and characters that hide or reorder text; tabs and line ends stay.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def as_html(run: Run, scrubber: Scrubber = NOTHING) -> str:
    """Return a stored run as the text of one HTML file, scrubbed; raises StoreError, TraceError.

    Without names, it has no comments.
    """
    page = page_of(run)
    if "names" in scrubber.kinds:
        page = replace(page, sections=tuple(part for part in page.sections if part.id != COMMENTS))
    return render(scrubber.value(page))


def comparison_as_html(left: Run, right: Run, scrubber: Scrubber = NOTHING) -> str:
    """Return the comparison of two stored runs as one HTML file, scrubbed; raises StoreError, TraceError."""
    return render(scrubber.value(page_of_comparison(left, right)))


@lru_cache
def words_of_file() -> frozenset[str]:
    """Return the words that the template and its assets put into every exported file."""
    return frozenset(piece for text in texts_of_file() for piece in re.findall("[A-Za-z0-9]+", text))


@lru_cache
def texts_of_file() -> tuple[str, ...]:
    """Return the template and its assets, which are in every exported file."""
    return tuple(map(_asset, ("page.html.jinja", "page.css", "graph.css", "page.min.js")))


def page_of(run: Run) -> HtmlPage:
    """Return the content of a run's file; raises StoreError, TraceError.

    Without a log, the content is the title, the verdict, and the reason for the run's end.
    """
    status, job = run.status(), run.job()
    title = run.name() or status.title or run.id
    if run.log_path() is None:
        outcome = OutcomeView(status, None, run)
        return HtmlPage(title, spans(outcome.title), (), (), outcome.reason)
    source = Source.of(run)
    outcome = OutcomeView(status, source.report, run)
    graphs = Graphs(source)
    parts = tuple(sections(source, outcome, graphs))
    chips = _chips(HeaderView(status, source.report, job), parts)
    origin = f"Run {run.id}, log of {bytes_(source.report.log_bytes)}"
    return HtmlPage(title, spans(outcome.title), chips, parts, origin, graphs.drawings.messages, graphs.drawings.levels)


def page_of_comparison(left: Run, right: Run) -> HtmlPage:
    """Return the content of the file about two runs.

    Raises StoreError if a run has no log, and TraceError for a log that cannot be read.
    """
    comparison = TwoRuns.of(Source.of(left), Source.of(right))
    title = " → ".join(title_of(source) for source in (comparison.left, comparison.right))
    parts = tuple(comparison.sections())
    origin = f"Runs {left.id} (left) and {right.id} (right)"
    drawings = comparison.drawings
    return HtmlPage(
        title,
        spans(comparison.compare.title),
        tuple(comparison.chips),
        parts,
        origin,
        drawings.messages,
        drawings.levels,
    )


def _chips(header: HeaderView, parts: tuple[Section, ...]) -> tuple[HtmlChip, ...]:
    ids = {part.id for part in parts}
    return tuple(
        HtmlChip(fact.value, fact.label, fact.tone, fact.page if fact.page in ids else "") for fact in header.facts
    )


def render(page: HtmlPage) -> str:
    """Return a page as the text of an HTML file."""
    script = _asset("page.min.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = (
        _environment()
        .get_template("page.html.jinja")
        .render(
            page=page,
            policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:",
            script=Markup(script),
            style=Markup(_asset("page.css")),
            graph_style=Markup(_asset("graph.css")),
            graphs=_as_json({"drawings": page.drawings, "levels": page.levels}) if page.drawings else "",
        )
    )
    # Each macro of the template leaves an empty line.
    return text.lstrip("\n")


def _as_json(value: Any) -> Markup:
    """Return a value as JSON that is safe inside a script element."""
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["highlighted"] = _highlighted
    return environment


def _printable(value: object) -> object:
    """Return text with its invisible characters as escapes; other values are unchanged."""
    return UNSEEN.sub(_escape, value) if type(value) is str else value


def _escape(match: re.Match[str]) -> str:
    return ascii(match.group())[1:-1]


def _highlighted(code: Code) -> Markup:
    """Return code as highlighted HTML with line numbers, and each note below its line."""
    lexer = get_lexer_by_name(code.language, stripnl=False, ensurenl=False)
    text = UNSEEN.sub(_escape, code.text.replace("\r\n", "\n"))
    notes = dict(code.notes)
    lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
    return Markup("\n").join(_line(number, Markup(line), notes) for number, line in enumerate(lines, code.first))


def _line(number: int, line: Markup, notes: dict[int, str]) -> Markup:
    shown = Markup('<span class="ln" aria-hidden="true">{}</span>{}').format(number, line)
    if number not in notes:
        return shown
    note = Markup('<span class="note">{}</span>').format(_printable(notes[number]))
    return Markup('<span class="broken">{}</span>\n{}').format(shown, note)


@lru_cache
def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


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
        """Yield the difference in call time, if comparable, and each other figure that certainly differs."""
        rows = self.compare.figure_rows
        times = self.compare.times
        if times is not None and times.comparison.comparable and not times.unknown:
            yield from (HtmlChip(row["difference"], "", "", "speed") for row in rows if row[""] == "compiled call")
        for row in rows:
            if row[CompareView.unlike]:
                yield HtmlChip(f"{row['left']} → {row['right']}", row[""], "", "summary")

    def sections(self) -> Iterator[Section]:
        """Yield the sections that are not empty; the last lists the content left out of the file."""
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
        """Yield the blocks of each pair of compilations; several pairs are folded below their ids."""
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
        """Yield a table; a long table is folded, and its number of rows is the title."""
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
    """Return the name of a run, else its title, else its id."""
    return source.run.name() or source.run.status().title or source.run.id


def _words(row: Mapping[str, object], forms: Mapping[str, Callable[[float], str]]) -> dict[str, str]:
    """Return a row as text: each float in its column's form, and unknown values empty."""
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
