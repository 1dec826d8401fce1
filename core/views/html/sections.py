"""Sections of an HTML file about a run: the dashboard's content as text, tables and code."""

from __future__ import annotations

import time
from collections.abc import Iterator

from core.analysis.work import heaviest
from core.views.blocks import Block, Code, Listing, TextTable, folded, paragraph
from core.views.comments import Comment, CommentsView, author_words
from core.views.compilations import CompilationsView, compilations
from core.views.compile_time import CompileTimeView, compile_time
from core.views.fixes import FixesView
from core.views.graph_breaks import GraphBreaksView, graph_breaks
from core.views.guards import guards
from core.views.header import page_contents
from core.views.html.page import Graphs, Section, Source, left_out, section
from core.views.kernels import KernelsView
from core.views.kernels.kernel import kernel_launches
from core.views.markdown import plain
from core.views.memory import memory
from core.views.overview import OutcomeView, OverviewView, run_facts
from core.views.recompiles import RecompilesView, recompiles
from core.views.speedup import speedup
from core.views.texts import SourceView

COMMENTS = "comments"
SHOWN = ("compilations", "graph_breaks", "recompiles", "guards", "fx_graph", "fusion", "kernels", "compile_time")


def sections(source: Source, outcome: OutcomeView, graphs: Graphs) -> Iterator[Section]:
    """Yield the sections that are not empty; the last lists the data not recorded or left out."""
    code = SourceView(source.report, source.side.text).text()
    overview = OverviewView(source.report, source.run.output_tail(), code)
    yield from section("failure", "Failure", _failure(outcome))
    yield from section("findings", "Findings", source.rendered(run_facts(overview, outcome)))
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
        yield from source.rendered(graph_breaks(report, FixesView.of_log(report, source.side.text), source.side.text))


def _recompiles(source: Source) -> Iterator[Block]:
    if RecompilesView(source.report).count:
        yield from source.rendered(recompiles(source.report, FixesView.of_log(source.report, source.side.text)))


def _compilations(source: Source) -> Iterator[Block]:
    if source.report.compilations:
        yield from source.rendered(compilations(source.report))


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


def _missing(source: Source) -> Iterator[Block]:
    contents = page_contents(source.report, live=False)
    reasons = [(name, contents[name].why_empty) for name in SHOWN if contents[name].why_empty]
    if reasons:
        rows = tuple((name.replace("_", " ").capitalize().replace("Fx", "FX"), reason) for name, reason in reasons)
        yield TextTable(("page", "why it is empty"), rows)
    for problem in OverviewView(source.report).log_problems:
        yield from paragraph(problem, "warn")
    yield from left_out(source.left_out)
