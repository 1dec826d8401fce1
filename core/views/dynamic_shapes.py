"""Symbols of dynamic shapes: all symbols of a compilation, and one in full; texts are Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis import SymbolRow, frame_names, symbol_rows, users_frames
from core.base import words as fmt
from core.job import CompileJob
from core.report import Compilation, ExportIssue, Frame, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

__all__ = ["SymbolsView"]

MOST_LINES = 50  #: conditions on a symbol, and its frames
MOST_LINKS = 5  #: links to other compilations with symbols
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


@dataclass(frozen=True, slots=True)
class IssueBox:
    """An export issue in words: the problem, the change to make, and the user's stack.

    `stack` is empty if it is unknown.
    """

    heading: str
    advice: str
    stack: str


@dataclass(frozen=True, slots=True)
class SymbolDetails:
    """A symbol in full: its origin, the conditions needed by tracing, and the checks at every call.

    `constants` has a sentence and a stack for each specialization. A stack is empty if it has no line of the user's
    code. `checks` is code.
    """

    heading: str
    constants: tuple[tuple[str, str], ...]
    origin: str
    needs_label: str
    needs: tuple[str, ...]
    checks: str


@dataclass(frozen=True)
class SymbolsView:
    """The symbols of a compilation; `job` is None for an imported log."""

    report: Report
    compilation: Compilation
    job: CompileJob | None

    no_line = "No line of your code: torch created it while retracing the graph."

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
    def issues(self) -> list[IssueBox]:
        """Issues that make the export unsound or made it fail, in log order."""
        return [_issue_box(issue) for issue in self.compilation.export_issues[:MOST_ISSUES]]

    @property
    def expressions(self) -> str:
        """Number of the expressions of symbols; empty if TORCH_DTRACE did not log them."""
        return fmt.count(len(self.compilation.expressions), "expression") if self.compilation.expressions else ""

    @property
    def expression_rows(self) -> list[dict[str, str]]:
        """Expressions of symbols, each with its operation and the user's line."""
        return [
            {
                "expression": one_line(expression.text, LONGEST_LINE),
                "computed by": one_line(f"{expression.method}({', '.join(expression.arguments)})", LONGEST_LINE),
                "source line": one_line(f"{expression.place.short}  {expression.place.text}", LONGEST_LINE)
                if expression.place
                else "",
            }
            for expression in self.compilation.expressions[:MOST_EXPRESSIONS]
        ]

    @property
    def why_none(self) -> str:
        """Reason why there is no symbol, and how to get one."""
        if self.job is not None and self.job.compile.dynamic:
            return "This run has `dynamic=True`, but no size of this compilation could be dynamic."
        return f"{WHY_NONE} `torch.compile(model, dynamic=True)` makes sizes and numbers dynamic from the start."

    @property
    def with_symbols(self) -> dict[str, str]:
        """Id → label of the first compilations of the run that have symbols."""
        names = frame_names(self.report)
        return {
            compilation.id: f"\\[{plain(compilation.id)}\\] {plain(names[compilation.id], LONGEST_NAME)}: "
            f"{fmt.count(len(compilation.symbols), 'symbol')}"
            for compilation in self._with_symbols[:MOST_LINKS]
        }

    @property
    def more_with_symbols(self) -> str:
        """Number of the other compilations that have symbols; empty if there are no more."""
        more = len(self._with_symbols) - MOST_LINKS
        return f"{fmt.number(more)} more have symbols." if more > 0 else ""

    @property
    def names(self) -> list[str]:
        """Names of the symbols, in the order of the rows."""
        return [row.symbol.name for row in self.symbols]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Symbols as rows of a table."""
        return [
            {
                "symbol": one_line(row.symbol.name, LONGEST_LINE),
                "stands for": one_line(row.symbol.source or "data-dependent (unbacked)", LONGEST_LINE),
                "hint": one_line(row.symbol.value, LONGEST_LINE) or "–",
                "range": one_line(row.symbol.range, LONGEST_LINE),
                "specialized to": one_line(row.constant, LONGEST_LINE),
                "conditions": len(row.needed) + len(row.checked),
                "source line": one_line(_line(row), LONGEST_LINE),
            }
            for row in self.symbols
        ]

    def details(self, name: str | None) -> SymbolDetails:
        """Return a symbol in full; the first symbol if none has the name."""
        row = next((row for row in self.symbols if row.symbol.name == name), self.symbols[0])
        asserted = "" if row.symbol.backed else "; asserted in the code at every call"
        return SymbolDetails(
            heading=_heading(row),
            constants=tuple(
                (
                    f"Specialized to the constant {code(constant.value)}: "
                    f"{code(constant.reason) or 'torch gives no reason'}",
                    _stack(constant.stack),
                )
                for constant in row.specializations
            ),
            origin=_stack(row.symbol.stack),
            needs_label=f"Guards added while tracing{asserted}",
            needs=tuple(
                f"{code(guard.expression)}{f', taken to be {code(guard.assumed)}' if guard.assumed else ''}"
                f"{_for_line(guard.stack)}{_where(guard.sources)}"
                for guard in row.needed[:MOST_LINES]
            ),
            checks="\n".join(one_line(line, LONGEST_TEXT) for line in row.checked[:MOST_LINES]),
        )

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


def _issue_box(issue: ExportIssue) -> IssueBox:
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
    return IssueBox(heading, advice, _stack([frame for frame in issue.stack if not frame.file.endswith(MODULE_CALL)]))


def _registration(op: str) -> str:
    """Return the decorator that registers an op's fake kernel: `mylib::foo` for `mylib.foo.default`."""
    library, _, name = op.partition(".")
    return f'@torch.library.register_fake("{library}::{name.removesuffix(".default")}")'


def _stack(stack: Sequence[Frame]) -> str:
    frames = users_frames(stack)[-MOST_LINES:]
    return "\n".join(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}" for frame in frames)
