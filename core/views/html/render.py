"""HTML files of one run, or of two compared runs.

A file contains its style and script, and needs no server. Its policy allows only its own script (by digest),
inline styles, and `data:` and `blob:` images. The graphs' data is JSON with `<` escaped, so that no text of a
log can end its element. A section has the blocks of a page.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from core.analysis.work import heaviest
from core.base.errors import StoreError
from core.base.words import bytes_
from core.report import Compilation
from core.runs.store import Run
from core.views.accelerator.run import accelerator
from core.views.aotinductor.run import aotinductor
from core.views.backend.run import backend
from core.views.blocks import (
    Block,
    Code,
    Drawing,
    Listing,
    PageBlock,
    Text,
    TextTable,
    capital,
    folded,
    paragraph,
    spans,
)
from core.views.capture import CaptureView, captures
from core.views.comments import Comment, CommentsView, author_words
from core.views.compare import CompareView, aspects
from core.views.compilations import CompilationsView, bytecode, compilations
from core.views.compile_time import CompileTimeView, compile_time
from core.views.decisions import op_decisions
from core.views.dynamic_shapes import dynamic_shapes
from core.views.fixes import FixesView
from core.views.graph_breaks import GraphBreaksView, graph_breaks
from core.views.guards import guards
from core.views.header import HeaderView, PageContent, page_contents
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
)
from core.views.kernels import KernelsView, KernelView, one_kernel
from core.views.kernels.kernel import kernel_launches
from core.views.markdown import LONGEST_LINE, plain
from core.views.memory import memory
from core.views.neighbours import neighbours
from core.views.numerics import numerics
from core.views.overview import OutcomeView, OverviewView, run_facts
from core.views.pairs import GRAPH, PairView
from core.views.passes import PartitionView, PassesView, partition, passes
from core.views.recompiles import RecompilesView, recompiles
from core.views.scrub import NOTHING, Scrubber
from core.views.speedup import speedup
from core.views.texts import SourceView, torch_logs
from core.views.timeline import timeline, timeline_view
from core.views.vllm import vllm
from core.views.wire import stored

COMMENTS = "comments"
SHOWN = ("compilations", "graph_breaks", "recompiles", "guards", "fx_graph", "fusion", "kernels", "compile_time")
HERE = Path(__file__).parent
# Control characters, lone surrogates, and characters that hide or reorder text; tabs and line ends stay.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def as_html(run: Run, scrubber: Scrubber = NOTHING) -> str:
    """Return a stored run as the text of one HTML file, scrubbed; raises StoreError, TraceError."""
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
    """Return the content of the file about two runs; raises StoreError, TraceError."""
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


FRAMES_NOTE = "Three frames: left, both with the changes coloured, and right."


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
        times, figures = self.compare.times, self.compare.comparison.figures
        if times is not None and times.comparison.comparable and not times.unknown:
            speed = self.compare.comparison.figure("compiled call")
            yield HtmlChip(self.compare.difference(speed), "", "", "speed")
        for figure in figures:
            if figure.differs:
                yield HtmlChip(f"{figure.left_words} → {figure.right_words}", figure.name, "", "summary")

    def sections(self) -> Iterator[Section]:
        """Yield the sections that are not empty; the last lists the content left out of the file."""
        for pane in aspects(self.compare).panes:
            head = self._runs() if pane.name == "summary" else ()
            blocks = (*head, *self.allowance.rendered(pane.blocks(), {GRAPH: self._drawing}))
            yield from section(pane.name.replace(" ", "_"), capital(pane.title), blocks)
        yield from section("missing", "Not in this file", left_out(self.allowance.left_out))

    def _runs(self) -> Iterator[Block]:
        for name, source in (("Left", self.left), ("Right", self.right)):
            outcome = OutcomeView(source.run.status(), source.report, source.run)
            yield from paragraph(f"**{name}**: {plain(title_of(source), LONGEST_LINE)}. {outcome.title}")

    def _drawing(self, pair: PairView, graph_id: str) -> Iterator[Block]:
        title, union = f"[{pair.left}] {pair.stages[graph_id]}", pair.union(graph_id)
        if self.allowance.takes_graph(title, union.size):
            picture = stored(union.picture)
            frame, overlay = union.both_frame, union.overlay
            place = self.drawings.place(f"compare-{graph_id}", picture, overlay=overlay, frame=frame)
            yield from paragraph(FRAMES_NOTE, "quiet")
            yield Drawing(place, title)


def title_of(source: Source) -> str:
    """Return the name of a run, else its title, else its id."""
    return source.run.name() or source.run.status().title or source.run.id


def sections(source: Source, outcome: OutcomeView, graphs: Graphs) -> Iterator[Section]:
    """Yield the sections that are not empty; the last lists the data not recorded or left out."""
    code = SourceView(source.report, source.side.text).text()
    overview = OverviewView(source.report, source.run.output_tail(), code, source.side.trials.proofs)
    yield from section("failure", "Failure", _failure(outcome))
    yield from section("findings", "Findings", source.rendered(run_facts(overview, outcome.status.state == "done")))
    yield from section(COMMENTS, "Comments", _comments(source))
    yield from section("graphs", "Graphs and fusion", _graphs(source, graphs))
    yield from section("kernels", "Kernels", _kernels(source))
    yield from section("graph_breaks", "Graph breaks", _breaks(source))
    yield from section("recompiles", "Recompiles", _recompiles(source))
    yield from section("compilations", "Compilations", _compilations(source))
    yield from section("guards", "Guards", _guards(source))
    yield from section("compile_time", "Compile time", _compile_time(source))
    yield from section("speedup", "Speedup", source.rendered(speedup(source.report)))
    yield from section("memory", "Memory", source.rendered(_memory(source)))
    yield from section("code", "Code", _code(source))
    contents = page_contents(source.report, live=False)
    for name, (title, make) in FOLDED.items():
        pages = make(source) if not contents.get(name, PageContent()).why_empty else ()
        folds = (source.folded(page) for page in pages)
        yield from section(name, title, (fold for fold in folds if not all(isinstance(it, Text) for it in fold.blocks)))
    yield from section("missing", "Not in this file", _missing(source))


def _failure(outcome: OutcomeView) -> Iterator[Block]:
    yield from paragraph(outcome.error, "bad")
    yield from paragraph(outcome.line, "bad")
    yield from paragraph(outcome.crash, "bad")
    yield from paragraph(outcome.bisection)
    if outcome.traceback:
        yield Listing("Traceback", Code(outcome.traceback, "pytb"))


def _comments(source: Source) -> Iterator[Block]:
    view = CommentsView.stored(source.run, source.side)
    yield from paragraph(plain(view.problem), "bad")
    for pin in view.talk.pins:
        figure = view.figure(pin.anchor)
        yield from paragraph(f"**Pinned** {view.title_of(pin.anchor)}{figure and f' · {figure}'}")
    for thread in source.first("Comments", view.threads):
        title = view.title_of(thread.first.anchor) + " · resolved" * (not thread.is_open)
        blocks = [block for each in thread.comments for block in _comment(each)]
        yield from folded(title, blocks, is_open=thread.is_open)


def _comment(comment: Comment) -> Iterator[Block]:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(comment.at_s))
    yield from paragraph(f"{plain(author_words(comment.by, comment.imported))} · {at}", "quiet")
    for line in comment.text.splitlines() if comment.deleted_s is None else ("Deleted",):
        yield from paragraph(plain(line))


def _graphs(source: Source, graphs: Graphs) -> Iterator[Block]:
    several = len(source.heaviest) > 1
    for number, compilation in enumerate(source.heaviest):
        blocks = list(graphs.blocks(compilation))
        if several:
            heading = plain(CompilationsView(source.report).heading(compilation))
            yield from folded(heading, blocks, is_open=number == 0)
        else:
            yield from blocks


def _kernels(source: Source) -> Iterator[Block]:
    for compilation in source.heaviest:
        if compilation.kernels:
            view = KernelsView.load(source.report, compilation, source.side.text)
            yield from source.rendered(kernel_launches(view, source.side.text))


def _breaks(source: Source) -> Iterator[Block]:
    report = source.report
    view = GraphBreaksView(report)
    if report.graph_breaks or any(view.eager_frames) or view.record_note:
        yield from source.rendered(graph_breaks(report, FixesView.of_side(source.side), source.side.text))


def _recompiles(source: Source) -> Iterator[Block]:
    if RecompilesView(source.report).count:
        yield from source.rendered(recompiles(source.report, FixesView.of_side(source.side)))


def _compilations(source: Source) -> Iterator[Block]:
    first, view = heaviest(source.report), CompilationsView(source.report)
    if first is not None:
        yield from source.rendered(compilations(source.report, first))
    for compilation in source.heaviest:
        if compilation is not first:
            details = tuple(source.rendered(view.details(compilation)))
            yield from folded(plain(view.heading(compilation)), details)


def _guards(source: Source) -> Iterator[Block]:
    for compilation in source.heaviest:
        if compilation.guards:
            yield source.folded(guards(source.report, compilation))


def _compile_time(source: Source) -> Iterator[Block]:
    if not CompileTimeView(source.report).why_none:
        yield from source.rendered(compile_time(source.report, source.side.text))


def _memory(source: Source) -> Iterator[Block]:
    yield from memory(source.report, heaviest(source.report), source.side.text)


def _code(source: Source) -> Iterator[Block]:
    report, view = source.report, SourceView(source.report, source.side.text)
    for recorded in source.first("Files", report.sources, 10):
        text = view.text(recorded.path)
        name = recorded.path.rsplit("/", 1)[-1]
        notes = view.notes(recorded.path, report.graph_breaks, report.error)
        shown = Code(source.excerpt(name, text), "python", notes=tuple(notes.items()))
        yield Listing(name, shown, detail=recorded.path, is_open=bool(notes) and report.error is not None)


Pages = Iterator[Iterable[PageBlock]]


def _of_each(make: Callable[[Source, Compilation], Iterable[PageBlock]]) -> Callable[[Source], Pages]:
    """Return a function that makes a page for each of the heaviest compilations."""
    return lambda source: (make(source, compilation) for compilation in source.heaviest)


def _of_heaviest(make: Callable[[Source, Compilation | None], Iterable[PageBlock]]) -> Callable[[Source], Pages]:
    """Return a function that makes a page for a run and the compilation with the most ops."""
    return lambda source: iter([make(source, heaviest(source.report))])


def _timeline(source: Source) -> Pages:
    try:
        view = timeline_view(source.run, source.report)
    except StoreError as error:
        source.left_out.append(f"Timeline: {error}")
    else:
        yield from [timeline(source.report, view)] if view is not None else []


# Pages in folds below all other sections, which have the room first: name → title, and their blocks.
# A page of sentences alone says why it is empty.
FOLDED: Mapping[str, tuple[str, Callable[[Source], Pages]]] = {
    "captures": (
        "Captures",
        _of_each(
            lambda source, it: captures(CaptureView(source.report, it, partial(source.nodes, it), source.side.text))
        ),
    ),
    "passes": (
        "Passes",
        _of_each(lambda source, it: passes(PassesView.of(source.report, it, partial(source.nodes, it)))),
    ),
    "partition": (
        "Forward and backward",
        _of_each(lambda source, it: partition(PartitionView.of(it, partial(source.nodes, it)))),
    ),
    "decisions": (
        "Decisions",
        _of_each(lambda source, it: op_decisions(source.report, it, partial(source.nodes, it), source.side.text)),
    ),
    "kernel": (
        "One kernel",
        _of_each(lambda source, it: one_kernel(KernelView.generated(source.report, it), source.side.text)),
    ),
    "dynamic_shapes": (
        "Dynamic shapes",
        _of_each(lambda source, it: dynamic_shapes(source.report, it, source.run.job())),
    ),
    "numerics": ("Numerics", _of_heaviest(lambda source, it: numerics(source.report, it, source.nodes))),
    "timeline": ("Timeline", _timeline),
    "backend": ("Backend", _of_heaviest(lambda source, it: backend(source.report, it, source.side.text))),
    "accelerator": ("Accelerator", _of_each(lambda source, it: accelerator(source.report, it, source.nodes))),
    "aotinductor": ("AOTInductor", _of_heaviest(lambda source, _: aotinductor(source.report, source.side.text))),
    "neighbours": ("Neighbours", _of_heaviest(lambda source, _: neighbours(source.report))),
    "bytecode": ("Bytecode", _of_each(lambda source, it: bytecode(source.report, it, source.side.text))),
    "vllm": ("vLLM", _of_heaviest(lambda source, _: vllm(source.report, source.side.text))),
    "logs": ("Torch's log", _of_heaviest(lambda source, _: torch_logs(source.report, source.side.text))),
}


def _missing(source: Source) -> Iterator[Block]:
    contents = page_contents(source.report, live=False)
    reasons = [(name, contents[name].why_empty) for name in SHOWN if contents[name].why_empty]
    if reasons:
        rows = tuple((name.replace("_", " ").capitalize().replace("Fx", "FX"), reason) for name, reason in reasons)
        yield TextTable(("page", "why it is empty"), rows)
    for problem in OverviewView(source.report).log_problems:
        yield from paragraph(problem, "warn")
    yield from left_out(source.left_out)
