"""Answers about a run or a compilation: errors, results, times, guards, dynamic shapes, memory."""

import re
from collections.abc import Iterator
from dataclasses import replace

from core.analysis.dynamo.recompiles import mentions
from core.analysis.numerics import bisection_words, cure_words
from core.analysis.results import compared_words, results
from core.analysis.verdict import verdict
from core.analysis.work import heaviest
from core.base import words as fmt
from core.report import Compilation
from core.views.blocks import Block, Heading, PageBlock, Picks, Table, Title, flat, paragraph, spans
from core.views.compile_time import PHASE_COLUMNS, CompileTimeView
from core.views.dynamic_shapes import SELECT, dynamic_shapes
from core.views.guards import FAMILY, GUARD, GUARD_COLUMNS, GuardsView
from core.views.kernels.ledger import KernelsView
from core.views.markdown import prose
from core.views.memory import memory
from core.views.numerics import NumericsView, result_blocks
from core.views.question import COSTS, MOST_ROWS, RunQuestion, unknown
from core.views.speedup import SpeedupView
from core.views.verdict import sentence

MOST_SHOWN = 3  #: findings that an answer has in full
MOST_GUARDS = 12  #: guards that an answer lists
OF_FRAMES = "not compiled"  # A rule of findings.
COMPILE_ID, SYMBOL = re.compile(r"!?\d+/\d+(?:_\d+)?"), re.compile(r"[su]\d+")
MEASURE = "`python -m core measure RUN` times a run's calls and kernels."


def error_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield the findings of errors, wrong results and frames without compiled code."""
    found = ((each, each.finding) for each in question.overview.findings)
    errors = [each for each, finding in found if finding.weight == "wrong" or OF_FRAMES in finding.rule]
    for each in errors[:MOST_SHOWN]:
        yield from each.blocks


def wrong_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield which results differ from eager, their distance from float64, and the first node that differs."""
    report, view = question.report, NumericsView(question.report)
    compared, recorded = results(report), view.title if view.state == "recorded" else ""
    same = f"Compared with eager: {compared.outcome} ({compared_words(compared.compared)})" if compared else ""
    yield Title(spans(recorded or same or view.title))
    yield from paragraph(same if recorded else "")
    yield from result_blocks(report)
    yield from error_blocks(question) if compared is not None and compared.outcome != "same" else ()
    if report.call_numerics:
        (table,) = (block for block in flat([view.results]) if isinstance(block, Table))
        named = [row for row in table.rows if str(question.number) in re.findall(r"\d+", row.what)]
        yield replace(table, rows=(named or table.rows)[:MOST_ROWS])
    for compilation in report.compilations:
        if not view.without_nodes(compilation):
            nodes = view.nodes_of(compilation, question.side.nodes)
            first = [row for row in nodes.table.rows if row.node.name == nodes.first_to_differ]
            yield from paragraph(nodes.sentence)
            yield replace(nodes.table, rows=first)
    yield from view.bit_by_bit
    found = report.bisection
    yield from paragraph(prose(" ".join((bisection_words(found), cure_words(found)))) if found is not None else "")
    yield from paragraph(view.paragraph, "quiet")


def slow_blocks(question: RunQuestion) -> Iterator[Block]:
    """Yield the speedup, the most expensive findings, and where the time of a call and of compiling goes."""
    report, speed, compiling = question.report, SpeedupView(question.report), CompileTimeView(question.report)
    is_untimed = speed.speed is None and report.setting.job is not None
    yield Title(spans(prose(sentence(verdict(report)))))
    yield from paragraph(" ".join(filter(None, (speed.title, speed.not_measured, MEASURE * is_untimed))))
    for finding in [each for each in question.overview.findings if each.finding.cost_s][:MOST_SHOWN]:
        yield from finding.blocks
    compilation = heaviest(report)
    kernels = KernelsView.load(report, compilation, question.side.text) if compilation is not None else None
    if kernels is not None and kernels.rows:
        yield Heading("Time of a call")
        yield from paragraph(f"{kernels.scope}{prose(kernels.title)} {prose(kernels.caption)}")
        yield from [kernels.call_bars] if kernels.call_parts else []
        yield Table("kernel launches", COSTS, kernels.rows[:MOST_ROWS])
    yield Heading("Time of compiling")
    yield from paragraph(f"{compiling.title} {compiling.why_none}")
    yield Table("phases", PHASE_COLUMNS, compiling.totals[:MOST_ROWS])


def _compilations(question: RunQuestion) -> list[Compilation]:
    """Return the named compilations, by default the one with most ops; raises UnknownNameError."""
    every = {each.id: each for each in question.report.compilations}
    for word in question.words:
        if word not in every and COMPILE_ID.fullmatch(word):
            raise unknown(word, every, "compilation")
    first = heaviest(question.report)
    return [each for name, each in every.items() if name in question.words] or ([first] if first is not None else [])


def guard_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield a compilation's guards; if some mention a word of the question, those, and the first in full."""
    for compilation in _compilations(question):
        view = GuardsView(question.report, compilation)
        names = [word for word in question.words if not COMPILE_ID.fullmatch(word)]
        text = next((name for name in names if any(mentions(row.guard, name) for row in view.rows)), "")
        rows = view.matches(None, text)
        yield Title(spans(view.title))
        yield from paragraph(view.check_time, "quiet")
        yield from () if text else (Table(FAMILY, view.family_columns, view.families),)
        yield Table(GUARD, GUARD_COLUMNS, rows[:MOST_GUARDS])
        yield from paragraph(f"{fmt.count(len(rows) - MOST_GUARDS, 'more guard')}" if len(rows) > MOST_GUARDS else "")
        yield from view.details(rows[0]) if text else ()


def shape_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield the symbols of a compilation; a named one in full. Raises UnknownNameError."""
    for compilation in _compilations(question):
        known = [symbol.name for symbol in compilation.symbols]
        for word in question.words:
            if known and word not in known and SYMBOL.fullmatch(word):
                raise unknown(word, known, "symbol")
        picks = Picks(texts={SELECT: next((word for word in question.words if word in known), "")})
        yield from dynamic_shapes(question.report, compilation, None, picks)


def memory_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield the peaks of both sides, and the memory plans of a compilation."""
    compilations: list[Compilation | None] = [*_compilations(question)]
    for compilation in compilations or [None]:
        yield from memory(question.report, compilation, question.side.text)
