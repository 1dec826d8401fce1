"""Dynamic shapes page: all symbols of a compilation, and one in full."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis.dynamo.failures import frame_names
from core.analysis.dynamo.recompiles import SymbolRow, symbol_rows, users_frames
from core.base import words as fmt
from core.job import CompileJob
from core.report import Compilation, ExportIssue, Expression, Frame, Report
from core.views.blocks import (
    NOTHING_PICKED,
    Code,
    Column,
    Data,
    Drawn,
    InLine,
    Listing,
    PageBlock,
    PageLink,
    Picks,
    Table,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

MOST_LINES = 50  #: conditions on a symbol, and its frames
MOST_LINKS = 5  #: links to other compilations with symbols
# Names: the button that runs the job with dynamic sizes, and the selected symbol.
TRY_DYNAMIC, SELECT = "try-dynamic", "select"
NO_LINE = "No line of your code: torch created it while retracing the graph."
WHY_NONE = (
    "Torch first treats every size and every Python number as a constant. A size or number that changes between two "
    "calls becomes a symbol in the recompile."
)


# Kind of an issue → its nouns, and what to do about it.
ISSUES = {
    "data-dependent": ("data-dependent expression", "data-dependent expressions"),
    "missing fake kernel": ("missing fake kernel", "missing fake kernels"),
    "mismatched fake kernel": ("wrong fake kernel", "wrong fake kernels"),
}
# The file of torch through which a module's `forward` is called.
MODULE_CALL = "/torch/nn/modules/module.py"
MOST_ISSUES = 100  #: limit: issues of an export
MOST_EXPRESSIONS = 2_000  #: limit: expressions of symbols in a table


def dynamic_shapes(
    report: Report, compilation: Compilation, job: CompileJob | None, picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield the symbols of a compilation: export issues, a table, a symbol in full, and expressions."""
    view = SymbolsView(report, compilation, job)
    yield Title(spans(view.title), GLOSSARY["symbol"])
    for issue in compilation.export_issues[:MOST_ISSUES]:
        yield from _issue_blocks(issue)
    if not view.symbols:
        yield from view.links
        yield from paragraph(view.why_none)
        yield Drawn(TRY_DYNAMIC)
        return
    yield Table("symbols", SYMBOL_COLUMNS, view.symbols, link=lambda row: row.symbol.name)
    yield InLine((Data("symbols", view.symbols),))
    yield from view.details(picks.text(SELECT))
    expressions = compilation.expressions
    if expressions:
        table = Table("expressions", EXPRESSION_COLUMNS, expressions[:MOST_EXPRESSIONS])
        yield from folded(fmt.count(len(expressions), "expression"), [table])


@dataclass(frozen=True)
class SymbolsView:
    """The symbols of a compilation; `job` is None for an imported log."""

    report: Report
    compilation: Compilation
    job: CompileJob | None

    @cached_property
    def symbols(self) -> tuple[SymbolRow, ...]:
        """Symbols with their guards and specializations."""
        return tuple(symbol_rows(self.compilation))

    @property
    def title(self) -> str:
        """Number of symbols, of unbacked ones, and of those that became constants."""
        if not self.symbols:
            return f"No size of [{self.compilation.id}] is dynamic{self._issue_words}."
        unbacked = sum(not row.symbol.backed for row in self.symbols)
        constant = sum(bool(row.constant) for row in self.symbols)
        more = [
            f"{fmt.number(unbacked)} unbacked" if unbacked else "",
            f"{fmt.number(constant)} specialized to a constant" if constant else "",
        ]
        symbols = f"{fmt.count(len(self.symbols), 'symbol')} in [{self.compilation.id}]"
        return ", ".join([symbols, *filter(None, more)]) + self._issue_words + "."

    @property
    def _issue_words(self) -> str:
        kinds = [issue.kind for issue in self.compilation.export_issues]
        counts = [fmt.count(kinds.count(kind), *nouns) for kind, nouns in ISSUES.items() if kind in kinds]
        return f"; to fix: {', '.join(counts)}" if counts else ""

    @property
    def why_none(self) -> str:
        """Reason why there is no symbol, and how to get one."""
        if self.job is not None and self.job.compile.dynamic:
            return "This run has `dynamic=True`, but no size of this compilation could be dynamic."
        return f"{WHY_NONE} `torch.compile(model, dynamic=True)` makes sizes and numbers dynamic from the start."

    @property
    def links(self) -> Iterator[PageBlock]:
        """Links to the first compilations of the run that have symbols, and the number of the others."""
        names = frame_names(self.report)
        for compilation in self._with_symbols[:MOST_LINKS]:
            count = fmt.count(len(compilation.symbols), "symbol")
            label = f"[{compilation.id}] {one_line(names[compilation.id], LONGEST_NAME)}: {count}"
            yield PageLink("dynamic_shapes", label, {"compilation": compilation.id})
        more = len(self._with_symbols) - MOST_LINKS
        yield from paragraph(f"{fmt.number(more)} more have symbols." if more > 0 else "", "quiet")

    def details(self, name: str) -> Iterator[PageBlock]:
        """Yield a symbol in full; the first symbol if none has the name.

        The parts are specializations, origin, conditions required by tracing, and guards.
        """
        row = next((row for row in self.symbols if row.symbol.name == name), self.symbols[0])
        yield from paragraph(_heading(row))
        for constant in row.specializations:
            reason = code(constant.reason) or "torch gives no reason"
            yield from paragraph(f"Specialized to the constant {code(constant.value)}: {reason}", "warn")
            yield from _stack_blocks("Specialized at", constant.stack)
        yield from _stack_blocks("Symbol created at", row.symbol.stack)
        asserted = "" if row.symbol.backed else "; asserted in the code at every call"
        yield from paragraph(f"Guards added while tracing{asserted}" if row.needed else "", "quiet")
        for guard in row.needed[:MOST_LINES]:
            assumed = f", taken to be {code(guard.assumed)}" if guard.assumed else ""
            yield from paragraph(f"{code(guard.expression)}{assumed}{_for_line(guard.stack)}{_where(guard.sources)}")
        if row.checked:
            checks = "\n".join(one_line(line, LONGEST_TEXT) for line in row.checked[:MOST_LINES])
            yield Listing("Guards on it", Code(checks), is_open=True)

    @property
    def _with_symbols(self) -> list[Compilation]:
        return [compilation for compilation in self.report.compilations if compilation.symbols]


def _heading(row: SymbolRow) -> str:
    symbol = row.symbol
    values = f"range {code(symbol.range)}" if symbol.range else "its range was not recorded"
    if symbol.backed:
        return f"**{code(symbol.name)}** is {code(symbol.source)}: hint {code(symbol.value)}, {values}"
    return (
        f"**{code(symbol.name)}** is unbacked: a data-dependent number, {values}. It has no value while tracing, so "
        "the code must work for all values."
    )


def _line(row: SymbolRow) -> str:
    frames = users_frames(row.symbol.stack)
    return f"{frames[-1].short}  {frames[-1].text}" if frames else ""


def _for_line(stack: Sequence[Frame]) -> str:
    frames = users_frames(stack)
    return f" for {code(frames[-1].text)} at {code(frames[-1].short)}" if frames else ""


def _where(values: Mapping[str, str]) -> str:
    named = [f"{code(name, LONGEST_NAME)} is {code(value, LONGEST_LINE)}" for name, value in values.items()]
    return f"; {', '.join(named)}" if named else ""


def _issue_blocks(issue: ExportIssue) -> Iterator[PageBlock]:
    """Yield an issue of an export: the problem, the change to make, and the user's stack."""
    subject, often = code(issue.subject, LONGEST_LINE), f", {fmt.count(issue.count, 'time')}" if issue.count > 1 else ""
    if issue.kind == "data-dependent":
        outcome = f"was taken to be {code(issue.assumed)}" if issue.assumed else "stopped the export"
        heading = f"{subject} depends on data and {outcome}{_for_line(issue.stack)}{_where(issue.values)}{often}"
        advice = "`torch._check(…)` with this condition, before the line, makes it a part of the program."
    elif issue.kind == "missing fake kernel":
        heading = f"{subject} has no fake kernel{often}"
        advice = f"Register one with {code(_registration(issue.subject))}."
    else:
        reason = f": {plain(issue.reason, LONGEST_TEXT)}" if issue.reason else ""
        heading = f"The fake kernel of {subject} differs from its real one{reason}{often}"
        advice = f"Correct the function that {code(_registration(issue.subject))} registers."
    yield from paragraph(f"{heading}. {advice}", "warn")
    stack = _stack([frame for frame in issue.stack if not frame.file.endswith(MODULE_CALL)])
    if stack:
        yield Listing("Lines of your code", Code(stack, "text"), is_open=True)


def _registration(op: str) -> str:
    """Return the decorator that registers an op's fake kernel: `mylib::foo` for `mylib.foo.default`."""
    library, _, name = op.partition(".")
    return f'@torch.library.register_fake("{library}::{name.removesuffix(".default")}")'


def _stack(stack: Sequence[Frame]) -> str:
    frames = users_frames(stack)[-MOST_LINES:]
    return "\n".join(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}" for frame in frames)


def _stack_blocks(title: str, stack: Sequence[Frame]) -> Iterator[PageBlock]:
    lines = _stack(stack)
    if lines:
        yield Listing(title, Code(lines, "text"), is_open=True)
    else:
        yield from paragraph(title, "quiet")
        yield from paragraph(NO_LINE)


SYMBOL_COLUMNS: tuple[Column[SymbolRow], ...] = (
    Column("symbol", lambda row: one_line(row.symbol.name, LONGEST_LINE)),
    Column("stands for", lambda row: one_line(row.symbol.source or "data-dependent (unbacked)", LONGEST_LINE)),
    Column("hint", lambda row: one_line(row.symbol.value, LONGEST_LINE) or "–"),
    Column("range", lambda row: one_line(row.symbol.range, LONGEST_LINE)),
    Column("specialized to", lambda row: one_line(row.constant, LONGEST_LINE)),
    Column("conditions", lambda row: len(row.needed) + len(row.checked), fmt.number),
    Column("source line", lambda row: one_line(_line(row), LONGEST_LINE)),
)
EXPRESSION_COLUMNS: tuple[Column[Expression], ...] = (
    Column("expression", lambda each: one_line(each.text, LONGEST_LINE)),
    Column("computed by", lambda each: one_line(f"{each.method}({', '.join(each.arguments)})", LONGEST_LINE)),
    Column(
        "source line",
        lambda each: one_line(f"{each.place.short}  {each.place.text}", LONGEST_LINE) if each.place else "",
    ),
)
