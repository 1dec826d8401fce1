"""Answers to questions about a run: a closed table of forms, each answered by blocks of the pages."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from core.analysis.comparison.matching import RunSide
from core.analysis.dynamo.failures import failed_phase
from core.analysis.dynamo.recompiles import guard_rows
from core.analysis.repairs.trials import recompile_subject
from core.analysis.work import newest_compilations, uncompiled_calls
from core.base import words as fmt
from core.views.answers import error_blocks, guard_blocks, memory_blocks, shape_blocks, slow_blocks, wrong_blocks
from core.views.blocks import (
    Block,
    Fold,
    PageBlock,
    Table,
    TextTable,
    Title,
    capital,
    paragraph,
    spans,
    words,
)
from core.views.fixes import FixesView, offer
from core.views.graph_breaks import GraphBreaksView
from core.views.guards import GUARD_COLUMNS
from core.views.markdown import code, plain, prose
from core.views.printed import as_text
from core.views.question import (
    MOST_ROWS,
    OPS,
    RunQuestion,
    UnknownNameError,
    kernel_blocks,
    pair_blocks,
)
from core.views.recompiles import RECOMPILE_COLUMNS, RecompilesView
from core.views.verdict import error_title, title, uncompiled_words

MOST_NAMED = 12  #: graph breaks or lines of a run that an answer names
ASK = "Ask one of these questions, with names and numbers of the run"
SKIPPED = r"skip\w*|eagerly|not compiled|uncompiled|fail\w*|errors?|crash\w*"
WRONG = r"wrong\w*|differ\w*|incorrect\w*|nan|numbers?|numerics?|outputs?|results?"
SLOW = r"slow\w*|fast\w*|speed\w*|long\w*|times?|costs?|expensive"
GUARDS, DYNAMIC = r"guard\w*", r"dynamic\w*|symbol\w*|shapes"
MEMORY = r"memory|peaks?|bytes|allocat\w*"
CAUSES = "recompiles"  # A rule of findings.
WITHOUT_OP = "Dynamo traces Python without tensors into no op, and torch names one line for each op, guard and break."


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The blocks of an answer; `form` is the example of its form, empty if they list forms or names."""

    form: str
    blocks: tuple[Block, ...]


def why(side: RunSide, question: str) -> RunAnswer:
    """Return the answer to a question about a run; without a known form, the list of the forms."""
    form = next((form for form in FORMS if form.asks.search(question.casefold())), None)
    if form is None:
        forms = tuple((form.example, form.words) for form in FORMS)
        return RunAnswer("", (Title(spans(ASK)), TextTable(("question", "answer"), forms)))
    asked = RunQuestion.read(side, question, form.asks)
    try:
        blocks = tuple(form.answer(asked))
        unused = ", ".join(code(word) for word in asked.words if word not in "\n".join(as_text(blocks)))
        note = paragraph(f"Words without a use here: {unused}." if unused else "", "quiet")
        return RunAnswer(form.example, (*blocks, *note))
    except UnknownNameError as error:
        return RunAnswer("", tuple(paragraph(str(error))))


def _breaks(question: RunQuestion) -> Iterator[Block]:
    """Yield a graph break in full; of several the most expensive, and the place of each other."""
    view = GraphBreaksView(question.report, question.source.text)
    inside = {frame.name: frame.name for cost in view.costs for frame in cost.graph_break.stack}
    names = {*question.named(inside, "graph break in the function")}
    chosen = {
        number: cost
        for number, cost in enumerate(view.costs, 1)
        if question.number in (None, number)
        if question.line is None or question.is_on(cost.graph_break.place, *cost.graph_break.stack)
        if names <= {frame.name for frame in cost.graph_break.stack}
    }
    if view.costs and not chosen:
        known = [f"{number} at {cost.graph_break.place.short}" for number, cost in enumerate(view.costs, 1)]
        raise UnknownNameError(f"No graph break fits. The breaks are {plain(fmt.first_of(known, MOST_NAMED))}.")
    for place, (number, cost) in enumerate(chosen.items()):
        blocks = view.card(number, cost, FixesView.of_side(question.side)).blocks
        entry = cost.graph_break.registry_id or "none"  # Of torch's registry, it repeats the reason.
        short = (each for each in blocks if not (isinstance(each, Fold) and words(each.title).startswith(entry)))
        yield from blocks[:2] if place else short
    if not chosen:
        yield from _failures(question)
    yield from paragraph(view.record_note, "quiet")


def _recompiles(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield a recompile in full; of several their tree, and the one that took longest in full."""
    view, fixes = RecompilesView(question.report), FixesView.of_side(question.side)
    chosen = question.compile_ids
    if question.line is not None:
        chosen = [each.compilation for each in question.report.recompiles if question.is_on(each.location)]
    if not chosen:
        yield Title(spans(view.title))
        chosen = [view.chosen(None, "")] if question.line is None and view.count else []
    shown = [node for each in chosen for tree in view.trees(each) if (node := tree.shown) is not None]
    if chosen and not shown:
        yield from paragraph(f"No guard failed: {code(chosen[0])} is the only compilation of its frame.")
    if len(shown) > 1:
        trees = (tree for tree in view.trees(shown[-1].compilation.id) if tree.shown is not None)
        yield from (Table(f"recompiles of {tree.name}", RECOMPILE_COLUMNS, tree.rows) for tree in trees)
        yield from paragraph("The longest one in full; `why recompile ID` has the fixes of any other.", "quiet")
    for node in sorted(shown, key=lambda node: (node.edge is None, -(node.seconds or 0.0)))[:1]:
        yield from view.details(node)
        if reason := view.newest.get(node.compilation.id):
            cause, found = recompile_subject(reason), question.overview.findings
            same = ((view.newest.get(each.finding.compilation), each) for each in found if each.finding.rule == CAUSES)
            advice = (each.advice for other, each in same if other is not None and recompile_subject(other) == cause)
            yield from paragraph(next(advice, ""))
            yield from offer(fixes.of_recompile(reason), f"recompile-{node.compilation.id}")


def _fusion(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield why two nodes or kernels are not one kernel; without names, all refused pairs of a graph."""
    named = question.places(2) if question.fusions else []
    if len(named) > 1:
        (left, places), (right, others) = named[:2]
        yield from pair_blocks(f"{code(left)} and {code(right)}", places, others)
    elif named or not question.fusions:
        yield from kernel_blocks(question)
    else:
        yield from paragraph(question.fusions[0].refusal_counts)
        yield question.fusions[0].refusals


def _failures(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield the error of a run, the failed compilations, and the frames and calls that ran eagerly."""
    report, view, breaks = question.report, question.overview, GraphBreaksView(question.report)
    error = report.error and prose(title(error_title(report.error, failed_phase(report))))
    ids = question.compile_ids
    yield Title(spans(error or breaks.title))
    yield from () if ids else error_blocks(question)
    for failure in view.first_failures:
        at = failure.failure.compilation
        if not ids or at in ids:
            yield from () if not ids and view.has_card(failure) else failure.blocks
            numbers = (n for n, cost in enumerate(breaks.costs, 1) if at in cost.graph_break.compilations)
            yield from paragraph(next((f"Its graph break: `why break {number}`" for number in numbers), ""), "quiet")
    yield from paragraph(view.failures_left_out, "quiet")
    yield from paragraph(prose(capital(uncompiled_words(uncompiled_calls(report)))))


def _line(question: RunQuestion) -> Iterator[Block]:
    """Yield what was recorded at a line: ops with their launches, graph breaks, recompiles and guards."""
    report, text = question.report, question.source.text(question.path).splitlines()
    compilations = newest_compilations(report) or report.compilations
    rows = [
        row
        for each in compilations
        for row in question.op_rows(each, lambda _, node: question.is_on(node.source, *node.stack))
    ]
    guards = [
        row for each in report.compilations for row in guard_rows(report, each) if question.is_on(row.guard.location)
    ]
    recompiles = [each.compilation for each in report.recompiles if question.is_on(each.location)]
    breaks = [each for each in report.graph_breaks if question.is_on(each.place, *each.stack)]
    ops, launched = [name for row in rows for name in row.nodes], {row.launch for row in rows} - {""}
    counts = ((ops, "op"), (launched, "kernel"), (breaks, "graph break"), (recompiles, "recompile"), (guards, "guard"))
    listed = ", ".join(fmt.count(len(found), noun) for found, noun in counts if found)
    line, file = question.line or 0, question.path.rpartition("/")[2]
    yield Title(spans(f"{code(f'{file}:{line}')}: {listed or 'nothing was recorded'}"))
    yield from paragraph(code(text[line - 1].strip()) if 0 < line <= len(text) else "")
    if rows:
        yield Table("ops", tuple(column for column in OPS if column.name != "code"), rows)
    if breaks:
        yield from _breaks(replace(question, words=(), number=None))
    if recompiles:
        yield from _recompiles(replace(question, words=()))
    if guards:
        yield Table("guards", GUARD_COLUMNS, guards)
    if not listed:
        known = (row.line for each in compilations for row in question.op_rows(each, lambda *_: True))
        lines = {int(at) for name, _, at in (each.rpartition(":") for each in known) if name == file}
        near = sorted(lines, key=lambda at: abs(at - line))[:MOST_ROWS]
        yield from paragraph(f"{WITHOUT_OP} Lines nearby with ops: {', '.join(map(str, sorted(near))) or 'none'}.")
        eager = [each.text for each in question.overview.first_failures if each.failure.place.file == question.path]
        yield from paragraph("\n".join(f"- {each}" for each in eager))


@dataclass(frozen=True, slots=True)
class Form:
    """A form of questions: an example, the answer in words, a pattern of its words, and a function."""

    example: str
    words: str
    pattern: str
    answer: Callable[[RunQuestion], Iterator[Block]]

    @property
    def asks(self) -> re.Pattern[str]:
        """The pattern of a whole word."""
        return re.compile(rf"\b(?:{self.pattern})\b")


# The first form counts that a question has a word of.
FORMS = (
    Form(
        "not fuse relu_3 mul_7",
        "torch's reason for two nodes or kernels; without names, all",
        r"(?:un)?fus\w*",
        _fusion,
    ),
    Form("recompile 0/3", "failed guard, values, fixes; also `of forward`, `at line 41`", r"recompil\w*", _recompiles),
    Form(
        "break 1", "torch's reason, cost, fixes; also `at line 41`, `in helper`", r"(?:graph-)?breaks?|broken?", _breaks
    ),
    Form("skipped", "errors, and frames and calls that run eagerly; also `helper not compiled`", SKIPPED, _failures),
    Form(
        "line 41", "ops, kernels, breaks, recompiles, guards; also `layers.py:41`", r"lines?\W*\d+|py:\d+|l\d+", _line
    ),
    Form(
        "kernel 3",
        "ops, lines, cost, and why it ends there; also by name",
        r"kernels?|(?:triton|cpp)_\w+",
        kernel_blocks,
    ),
    Form("guards of 0/1", "conditions of reuse; also `guards x`", GUARDS, guard_blocks),
    Form("dynamic s0", "symbolic sizes, and their origins", DYNAMIC, shape_blocks),
    Form("memory", "peaks, and the plan of each graph", MEMORY, memory_blocks),
    Form("output 0", "differences from eager and float64, and the first node; also `wrong`", WRONG, wrong_blocks),
    Form("slow", "the largest costs in seconds: findings, kernels, phases of compiling", SLOW, slow_blocks),
)
