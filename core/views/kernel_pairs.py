"""Kernels of two compilations: matched pairs, the rows of their tables, and both sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from core.analysis.comparison import RunSide, kernel_comparison
from core.analysis.kernels import Comparison, KernelPair, KernelSide, compare, opposite, side_of
from core.base import words as fmt
from core.code import TextDiff, diff_texts
from core.code.output_code import kernel_code
from core.views.compare import UNKNOWN, UNLIKE
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

__all__ = ["KernelPairsView", "PairOfKernels"]

MOST_OPS = 12
SAME_TEXT = "The function is the same text; what differs are names, hints, and the device's properties."
CELLS: dict[str, Callable[[KernelSide], str]] = {
    "function": lambda side: one_line(side.name, LONGEST_LINE) if side.extern else "",
    "language": lambda side: {"cpp": "C++", "triton": "Triton"}.get(
        side.language, one_line(side.language, LONGEST_NAME)
    ),
    "kind": lambda side: one_line(side.kind, LONGEST_NAME),
    "tiling": lambda side: one_line(side.tiling, LONGEST_LINE),
    "config": lambda side: _configs(side),
    "registers": lambda side: _words(side.registers, fmt.number),
    "spills": lambda side: _words(side.spill_bytes, fmt.bytes_),
    "shared memory": lambda side: _words(side.shared_bytes, fmt.bytes_),
    "occupancy": lambda side: _words(side.occupancy, fmt.percent),
    "bytes": lambda side: ("at most " if side.bytes_at_most else "") + _words(side.bytes_moved, fmt.bytes_),
    "calls": lambda side: fmt.number(side.calls),
    "FLOPs": lambda side: ("≈ " if side.flops_estimated else "") + _words(side.flops, fmt.amount),
}
COLUMN_HELP = {
    "config": "Several where only timing on the device could choose",
    "registers": "Registers of a thread",
    "shared memory": "Shared memory of a block",
    "occupancy": "Theoretical occupancy",
    "left time": "Measured, or estimated, as the caption says",
    "right time": "Measured, or estimated, as the caption says",
    "generated name": "Name that torch generated",
}
# Aspects that only the pair's own table has.
DETAILS = ("function", "language")


@dataclass(frozen=True)
class PairSource:
    """The generated source of a pair's kernel; `text` is empty for a library function and for no kernel."""

    side: str
    name: str
    language: str
    text: str

    @property
    def none(self) -> str:
        """The message for a side without a generated source."""
        return f"Nothing was generated on the {self.side}."


@dataclass(frozen=True)
class PairOfKernels:
    """Two kernels that compute the same part of the model, or one kernel without a counterpart."""

    no_source: ClassVar[str] = "Extern kernels are library functions: there is no generated source to compare."
    same_source: ClassVar[str] = "The generated sources are identical."

    pair: KernelPair
    left_text: str
    right_text: str

    @property
    def id(self) -> str:
        """The id for the URL: `k:` and the left kernel; `r:` and the right kernel if there is no left kernel."""
        return f"{'k' if self.pair.left else 'r'}:{self.pair.either.kernel}"

    @property
    def differs(self) -> bool:
        """True if an aspect or the source differs, or if only one side has the kernel."""
        return not self.pair.both or bool(self.pair.differs) or self.pair.same_text is False

    @property
    def title(self) -> str:
        """The kernel's display name and its generated name, as Markdown."""
        return f"**{plain(self.pair.either.label, LONGEST_LINE)}** {code(self.pair.either.name)}"

    @property
    def rows(self) -> list[dict[str, str]]:
        """A row for each aspect, with both sides; aspects that differ are marked."""
        left, right = self.pair.left, self.pair.right
        rows = [
            {"": name, "left": _text(left, name), UNLIKE: self._mark(name), "right": _text(right, name)}
            for name in CELLS
        ]
        rows.insert(0, {"": "ops", "left": _ops(left), UNLIKE: self._mark("fusion"), "right": _ops(right)})
        return [row for row in rows if row["left"] or row["right"]]

    def _mark(self, name: str) -> str:
        return UNLIKE if name in self.pair.differs else ""

    @property
    def row(self) -> dict[str, object]:
        """The row of the table of all pairs; seconds are numbers, None if unknown."""
        left, right, either = self.pair.left, self.pair.right, self.pair.either
        lone = "" if self.pair.both else f"only on the {'left' if left else 'right'}"
        return {
            "kernel": _cell(*(one_line((side or either).label, LONGEST_LINE) for side in (left, right))),
            "left time": left.time_s if left else None,
            "right time": right.time_s if right else None,
            "differs": lone or ", ".join(self.pair.differs),
            "fusion": self._fusion(),
            **{name: self._aspect(name) for name in CELLS if name not in DETAILS},
            "source": {True: "same", False: UNLIKE, None: ""}[self.pair.same_text],
            "generated name": _cell(*(one_line((side or either).name, LONGEST_LINE) for side in (left, right))),
        }

    def _aspect(self, name: str) -> str:
        left, right = self.pair.left, self.pair.right
        if not self.pair.both:
            return _text(left or right, name)
        return _cell(_text(left, name), _text(right, name), differs=name in self.pair.differs)

    def _fusion(self) -> str:
        lone = {"only left": self.pair.only_left, "only right": self.pair.only_right}
        text = "; ".join(f"{side}: {_counted(ops)}" for side, ops in lone.items() if ops)
        if text:
            return f"{UNLIKE} {text}" if "fusion" in self.pair.differs else text
        return fmt.count(len(self.pair.either.ops), "op")

    @property
    def sources(self) -> list[PairSource]:
        """The sources of both kernels, left and right."""
        sides = (("left", self.pair.left, self.left_text), ("right", self.pair.right, self.right_text))
        return [
            PairSource(name, side.name if side else "", side.language if side else "", text)
            for name, side, text in sides
        ]

    @property
    def diff(self) -> TextDiff | None:
        """The difference of both sources; None unless both are in one language."""
        left, right = self.pair.left, self.pair.right
        if left is None or right is None or left.language != right.language:
            return None
        return diff_texts(self.left_text, self.right_text, f"{left.name}, left", f"{right.name}, right")

    @property
    def diff_note(self) -> str:
        """A sentence if both functions have the same text; otherwise empty."""
        return SAME_TEXT if self.pair.same_text else ""


class KernelPairsView:
    """The kernels of a compilation compared with the kernels of a compilation of another run."""

    unlike, unknown = UNLIKE, UNKNOWN
    no_kernels = "Neither compilation has a kernel."
    column_help = COLUMN_HELP

    def __init__(self, comparison: Comparison, left: RunSide, right: RunSide) -> None:
        """Show a comparison of two compilations' kernels; `of` makes it."""
        self.comparison, self._left, self._right = comparison, left, right

    @classmethod
    def of(cls, left: RunSide, left_id: str, right: RunSide, right_id: str = "") -> KernelPairsView | None:
        """Compare two compilations by their ids; None if there is no right compilation.

        Without `right_id`, the right compilation has the same id as the left, if that compilation has kernels.
        Otherwise it is the first compilation with kernels. With `right_id`, equal kernels of other compilations are
        paired, too.
        """
        left_compilation = left.report.compilation(left_id)
        assert left_compilation is not None
        right_compilation = right.report.compilation(right_id) if right_id else opposite(right.report, left_compilation)
        if right_compilation is None:
            return None
        sides = side_of(left.report, left_compilation, left.text), side_of(right.report, right_compilation, right.text)
        matched = kernel_comparison(left, left_id, right, right_id) if right_id else None
        return cls(matched or compare(*sides), left, right)

    @property
    def title(self) -> str:
        """The comparison in one sentence."""
        return self.comparison.sentence

    @property
    def left(self) -> str:
        """The left run in words, as Markdown."""
        return f"**Left** (this run): {plain(self.comparison.left, LONGEST_LINE)}."

    @property
    def right(self) -> str:
        """The right run in words, as Markdown."""
        return f"**Right**: {plain(self.comparison.right, LONGEST_LINE)}."

    @cached_property
    def pairs(self) -> dict[str, PairOfKernels]:
        """Each pair by its id, in the order of the table."""
        pairs = [
            PairOfKernels(pair, _source(self._left, pair.left), _source(self._right, pair.right))
            for pair in self.comparison.pairs
        ]
        return {pair.id: pair for pair in pairs}

    def chosen(self, pair_id: str | None) -> PairOfKernels:
        """Return a pair by its id; by default the first that differs, with both kernels if there is one."""
        default = min(self.pairs.values(), key=lambda pair: (not pair.differs, not pair.pair.both))
        return self.pairs.get(pair_id or "", default)

    @property
    def times(self) -> str:
        """A caption with the sum of each side's times, and whether the times are measured or estimated."""
        left = [pair.left for pair in self.comparison.pairs if pair.left is not None]
        right = [pair.right for pair in self.comparison.pairs if pair.right is not None]
        return f"{_times_words('Left', left)}; {_times_words('Right', right)}. Cells with ≠ differ; – means unknown."


def _source(run: RunSide, kernel: KernelSide | None) -> str:
    """Return the source of a generated kernel of a run; empty for a library function."""
    if kernel is None or kernel.extern:
        return ""
    kernels = (each for compilation in run.report.compilations for each in compilation.kernels)
    found = next((each for each in kernels if each.id == kernel.kernel), None)
    return kernel_code(found, run.text(found.output_code)) if found is not None else ""


def _times_words(name: str, kernels: Sequence[KernelSide]) -> str:
    timed = [kernel for kernel in kernels if kernel.time_s is not None]
    if not timed:
        return f"{name}: kernels not timed"
    estimated = any(kernel.timed == "estimated" for kernel in timed)
    total = fmt.duration_s(sum(kernel.time_s or 0.0 for kernel in timed))
    missing = f", {fmt.number(len(kernels) - len(timed))} without a time" if len(timed) < len(kernels) else ""
    return f"{name}: {total} in all kernels, {'estimated by its roofline' if estimated else 'measured'}{missing}"


def _configs(side: KernelSide) -> str:
    """Return the chosen config, or all of them if only timing can choose."""
    if side.config is None:
        return ""
    if side.config.chosen:
        return one_line(side.config.text, LONGEST_LINE)
    return one_line(" or ".join(config.text for config in side.configs), LONGEST_TEXT)


def _cell(left: str, right: str, *, differs: bool = False) -> str:
    """Return the texts of both sides for one cell; a single text if they are equal."""
    if differs:
        return f"{left} {UNLIKE} {right}"
    return left if left == right else f"{left or UNKNOWN} | {right or UNKNOWN}"


def _ops(side: KernelSide | None) -> str:
    return _counted(side.ops) if side else ""


def _counted(ops: Sequence[str]) -> str:
    counts = Counter(ops)
    named = [f"{one_line(op, LONGEST_NAME)}{f' ×{count}' if count > 1 else ''}" for op, count in counts.items()]
    more = f" and {fmt.number(len(named) - MOST_OPS)} more" if len(named) > MOST_OPS else ""
    return ", ".join(named[:MOST_OPS]) + more


def _text(side: KernelSide | None, name: str) -> str:
    return CELLS[name](side) if side else ""


def _words(value: Any, form: Callable[[Any], str]) -> str:
    return "" if value is None else form(value)
