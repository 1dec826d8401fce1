"""Two matched compilations: graphs, guards, and kernels in pairs with both sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.analysis.comparison.compilations import CompilationComparison, GraphDifference, kernel_comparison
from core.analysis.comparison.graphs import Change
from core.analysis.comparison.kernels import Comparison, KernelPair, KernelSide, compare, opposite, side_of
from core.analysis.comparison.matching import RunSide
from core.analysis.kernels.kernel import UNRELIABLE
from core.base import words as fmt
from core.code.diff import TextDiff, diff_texts
from core.code.output_code import kernel_code
from core.report import Guard
from core.views.blocks import (
    UNLIKE,
    Beside,
    Code,
    Column,
    Drawn,
    Fold,
    Lazy,
    Listing,
    PageBlock,
    Table,
    capital,
    paragraph,
    spans,
)
from core.views.comparison import kernels_sentence
from core.views.graph import GraphUnionView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from core.views.texts import SourceView

# Parts that the page draws by hand.
GRAPHS, GRAPH, CHOSEN = "graphs", "graph", "chosen-kernels"
UNKNOWN = "–"
SIGNS: dict[Change, str] = {
    "only right": "+",
    "only left": "−",
    "changed": "~",
    "moved": "↕",
    "to another graph": "→",
    "from another graph": "←",
}
MOVED_NOTE = "→ and ← count nodes that are in another graph of the other run; the drawing shows them on one side only"

MOST_OPS = 12  #: ops of a kernel
# Pairs in full.
MOST_KERNELS = 40  #: kernels of a pair whose difference is shown
NO_SOURCE = "Extern kernels are library functions: there is no generated source to compare."
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


LANGUAGES = {"cpp": "cpp", "triton": "python"}


def graphs(pair: PairView) -> Iterator[PageBlock]:
    """Yield the graphs of the same stage; a graph that differs has a drawing and its changed nodes."""
    if not pair.stages:
        yield from paragraph("The two compilations have no graph of the same stage.")
        yield from paragraph(capital(pair.lone_stages), "quiet")
        return
    yield Drawn(GRAPHS, Lazy(lambda: _graphs(pair)))


def _graphs(pair: PairView) -> Iterator[PageBlock]:
    for graph in _common(pair.comparison):
        if not graph.same:
            title = spans(code(pair.stages[graph.left]))
            union = pair.union(graph.left)
            yield Fold(title, (Drawn(GRAPH, of=(pair, graph.left)), union.changes), graph.left == pair.first_stage)
    same = len(pair.stages) - pair.unlike_graphs()
    if same:
        yield from paragraph(f"{fmt.count(same, 'graph')} of the same stage: every node is the same in both.")
    yield from paragraph(capital(pair.lone_stages), "quiet")


def kernels(pair: PairView) -> Iterator[PageBlock]:
    """Yield the kernels of both compilations in pairs."""
    if pair.kernels is not None:
        yield from paragraph(plain(pair.kernels.title))
        yield from kernel_pairs(pair.kernels)


def guards(pair: PairView) -> Iterator[PageBlock]:
    """Yield the guards that only one of the two compilations has."""
    if not pair.guards_sentence:
        yield from paragraph("No guards to compare: the other run has no matching compilation.")
        return
    yield from paragraph(pair.guards_sentence)
    yield from paragraph("Object addresses are ignored; they change in every process.", "quiet")
    if pair.lone_guards:
        yield Table(f"guards of [{pair.left}]", GUARD_COLUMNS, pair.lone_guards)


def kernel_pairs(kernels: KernelPairsView) -> Iterator[PageBlock]:
    """Yield all pairs of kernels as a table, and each that differs; the dashboard draws the selected one."""
    if not kernels.pairs:
        yield from paragraph("Neither compilation has a kernel.")
        return
    yield from paragraph(kernels.times, "quiet")
    yield Table("kernel pairs", PAIR_COLUMNS, [*kernels.pairs.values()], link=lambda pair: pair.id)
    yield Drawn(CHOSEN, Lazy(lambda: _differing(kernels)))


def _differing(kernels: KernelPairsView) -> Iterator[PageBlock]:
    pairs = [pair for pair in kernels.pairs.values() if pair.differs]
    yield from (Fold(spans(pair.title), tuple(pair.blocks)) for pair in pairs[:MOST_KERNELS])
    more = len(pairs) - MOST_KERNELS
    yield from paragraph(f"{fmt.count(more, 'more pair')} of kernels that differ." if more > 0 else "", "quiet")


def _source_blocks(side: str, kernel: KernelSide | None, text: str) -> Iterator[PageBlock]:
    if kernel is None or not text:
        yield from paragraph(f"Nothing was generated on the {side}.", "quiet")
        return
    listed = Code(text, LANGUAGES.get(kernel.language, "text"))
    yield Listing(kernel.name, listed, detail=f"on the {side}", is_open=True)


@dataclass(frozen=True)
class PairOfKernels:
    """Two kernels that compute the same part of the model, or one kernel without a counterpart."""

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
    def blocks(self) -> Iterator[PageBlock]:
        """Yield a table of each aspect, with differences marked, and both sources."""
        yield Table("kernels of the pair", ASPECT_COLUMNS, self.aspects)
        diff = self.diff
        if not self.left_text and not self.right_text:
            yield from paragraph(NO_SOURCE, "quiet")
        elif diff is None:
            left = _source_blocks("left", self.pair.left, self.left_text)
            yield Beside((*left,), (*_source_blocks("right", self.pair.right, self.right_text),))
        elif not diff.text:
            yield from paragraph("The generated sources are identical.", "ok")
        else:
            yield from paragraph(SAME_TEXT if self.pair.same_text else "", "quiet")
            yield Listing("Difference of the generated sources", Code(diff.text, "diff"), is_open=True)
            yield from paragraph(SourceView.more_lines(diff.left_out) if diff.left_out else "", "quiet")

    @property
    def aspects(self) -> list[tuple[str, ...]]:
        """Name, left, mark and right of each aspect."""
        left, right = self.pair.left, self.pair.right
        rows = [(name, _text(left, name), self._mark(name), _text(right, name)) for name in CELLS]
        rows.insert(0, ("ops", _ops(left), self._mark("fusion"), _ops(right)))
        return [row for row in rows if row[1] or row[3]]

    def _mark(self, name: str) -> str:
        return UNLIKE if name in self.pair.differs else ""

    @property
    def differences(self) -> str:
        """The side of a kernel without a counterpart, or the aspects that differ."""
        if self.pair.both:
            return ", ".join(self.pair.differs)
        return f"only on the {'left' if self.pair.left else 'right'}"

    def both(self, name: str) -> str:
        """Return an attribute of both kernels; a kernel without a counterpart has it alone."""
        sides = (side or self.pair.either for side in (self.pair.left, self.pair.right))
        return _cell(*(one_line(getattr(side, name), LONGEST_LINE) for side in sides))

    def aspect(self, name: str) -> str:
        """Return an aspect of both kernels; both texts if they differ."""
        left, right = self.pair.left, self.pair.right
        if not self.pair.both:
            return _text(left or right, name)
        return _cell(_text(left, name), _text(right, name), differs=name in self.pair.differs)

    @property
    def fusion(self) -> str:
        """The ops that only one kernel has; the number of ops if there are none."""
        lone = {"only left": self.pair.only_left, "only right": self.pair.only_right}
        text = "; ".join(f"{side}: {_counted(ops)}" for side, ops in lone.items() if ops)
        if text:
            return f"{UNLIKE} {text}" if "fusion" in self.pair.differs else text
        return fmt.count(len(self.pair.either.ops), "op")

    @property
    def diff(self) -> TextDiff | None:
        """The difference of both sources; None unless both are in one language."""
        left, right = self.pair.left, self.pair.right
        if left is None or right is None or left.language != right.language:
            return None
        return diff_texts(self.left_text, self.right_text, f"{left.name}, left", f"{right.name}, right")


class KernelPairsView:
    """The kernels of a compilation compared with the kernels of a compilation of another run."""

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
        return kernels_sentence(self.comparison)

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
        """A caption with the sum of each side's times, and whether the times are measured or predicted."""
        left = [pair.left for pair in self.comparison.pairs if pair.left is not None]
        right = [pair.right for pair in self.comparison.pairs if pair.right is not None]
        predicted = any(kernel.range_s for kernel in left) and any(kernel.range_s for kernel in right)
        rank = " Where intervals overlap, neither side is faster." if predicted else ""
        sides = f"{_times_words('Left', left)}; {_times_words('Right', right)}."
        return f"{sides}{rank} Cells with ≠ differ; – means unknown."


@dataclass(frozen=True)
class PairView:
    """A compilation of the left run and its counterpart in the right run."""

    comparison: CompilationComparison
    left_run: RunSide
    right_run: RunSide

    @property
    def left(self) -> str:
        """The id of the left compilation."""
        return self.comparison.left

    @property
    def right(self) -> str:
        """The id of the right compilation."""
        return self.comparison.right

    def no_match(self, compile_id: str) -> str:
        """Return a Markdown note that a compilation has no match and that this pair is shown instead."""
        return f"The right run has no match for \\[{compile_id}\\]; shown is \\[{self.left}\\]."

    @property
    def stages(self) -> dict[str, str]:
        """Id of each left graph with a counterpart → its label with changes: "graph · +4 −12 ~4"."""
        return {graph.left: f"{graph.left} · {_changes_words(graph)}" for graph in _common(self.comparison)}

    @property
    def first_stage(self) -> str:
        """The id of the first graph that differs; the id of the first graph if none differs."""
        graphs = _common(self.comparison)
        return next((graph.left for graph in graphs if not graph.same), graphs[0].left)

    @property
    def lone_stages(self) -> str:
        """Number of stages in only one of the two compilations, and of moved nodes; empty if there are none."""
        graphs = self.comparison.graphs
        counts = {"left": sum(not graph.right for graph in graphs), "right": sum(not graph.left for graph in graphs)}
        lone = [f"only on the {side}: {fmt.count(count, 'stage')}" for side, count in counts.items() if count]
        moved = [MOVED_NOTE] if any(graph.moved for graph in graphs) else []
        return "; ".join([*lone, *moved])

    def union(self, graph_id: str) -> GraphUnionView:
        """Return a graph of the left compilation and its counterpart as one graph."""
        right_id = next(graph.right for graph in _common(self.comparison) if graph.left == graph_id)
        left, right = self.left_run.report.compilation(self.left), self.right_run.report.compilation(self.right)
        assert left is not None
        assert right is not None
        left_graph, right_graph = left.graph(graph_id), right.graph(right_id)
        assert left_graph is not None
        assert right_graph is not None
        nodes = self.left_run.nodes(left, left_graph), self.right_run.nodes(right, right_graph)
        return GraphUnionView(*nodes, self.left_run.report)

    @property
    def guards_sentence(self) -> str:
        """The numbers of guards in both compilations and in only one; empty if guards were not compared."""
        guards = self.comparison.guards
        if guards is None:
            return ""
        return (
            f"{fmt.count(guards.both, 'guard')} in both; {fmt.number(len(guards.only_left))} only on the left, "
            f"{fmt.number(len(guards.only_right))} only on the right."
        )

    @property
    def lone_guards(self) -> list[tuple[str, Guard]]:
        """The guards that only one of the two compilations has, with its side."""
        guards = self.comparison.guards
        if guards is None:
            return []
        sides = (("only left", guards.only_left), ("only right", guards.only_right))
        return [(side, guard) for side, lone in sides for guard in lone]

    @cached_property
    def kernels(self) -> KernelPairsView | None:
        """The kernels of both compilations; None if the right run lacks the compilation."""
        return KernelPairsView.of(self.left_run, self.left, self.right_run, self.right)

    def unlike_graphs(self) -> int:
        """Count the stages whose graphs differ, among the stages that both compilations have."""
        return sum(not graph.same for graph in _common(self.comparison))

    def unlike_kernels(self) -> int:
        """Count the kernels that differ, or that only one of the two has."""
        kernels = self.comparison.kernels
        return sum(not pair.both or bool(pair.differs) for pair in kernels.pairs) if kernels is not None else 0

    def unlike_guards(self) -> int:
        """Count the guards that only one side has, and return the larger of the two counts."""
        guards = self.comparison.guards
        return max(len(guards.only_left), len(guards.only_right)) if guards is not None else 0


def _common(pair: CompilationComparison) -> list[GraphDifference]:
    """Return the graphs of the stages that both compilations have."""
    return [graph for graph in pair.graphs if graph.left and graph.right]


def common_nodes(pair: CompilationComparison) -> int:
    """Return the number of nodes in the graphs of stages that both compilations have."""
    return sum(sum(graph.changes.values()) for graph in _common(pair))


def _changes_words(graph: GraphDifference) -> str:
    """Return the counts of changed nodes ("+4 −12 ~4"), or "the same"."""
    counts = {sign: count for change, sign in SIGNS.items() if (count := graph.changes.get(change))}
    return " ".join(f"{sign}{fmt.number(count)}" for sign, count in counts.items()) or "the same"


def _source(run: RunSide, kernel: KernelSide | None) -> str:
    """Return the source of a generated kernel of a run; empty for a library function."""
    if kernel is None or kernel.extern:
        return ""
    kernels = (each for compilation in run.report.compilations for each in compilation.kernels)
    found = next((each for each in kernels if each.id == kernel.kernel), None)
    return kernel_code(found, run.text(found.output_code)) if found is not None else ""


def _times_words(name: str, kernels: Sequence[KernelSide]) -> str:
    timed = [kernel for kernel in kernels if kernel.time_s is not None]
    if any(kernel.timed == UNRELIABLE for kernel in kernels):
        return f"{name}: kernel times are not reliable"
    if not timed:
        return f"{name}: kernels not timed"
    ranges = [kernel.range_s for kernel in timed if kernel.range_s]
    total_s = sum(kernel.time_s or 0.0 for kernel in timed)
    bounds = sum(low for low, _ in ranges), sum(high for _, high in ranges)
    total = fmt.predicted_s(total_s, bounds) if ranges else fmt.duration_s(total_s)
    missing = f", {fmt.number(len(kernels) - len(timed))} without a time" if len(timed) < len(kernels) else ""
    return f"{name}: {total} in all kernels, {'predicted' if ranges else 'measured'}{missing}"


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


def _aspect(name: str, help: str = "", width: int | None = None) -> Column[PairOfKernels]:
    return Column(name, lambda pair: pair.aspect(name), help=help, width=width, optional=True, marked=True)


TIMED = "Measured, or predicted, as the caption says"
PAIR_COLUMNS: tuple[Column[PairOfKernels], ...] = (
    Column("kernel", lambda pair: pair.both("label"), width=290),
    Column("left time", lambda pair: pair.pair.left and pair.pair.left.time_s, fmt.duration_s, TIMED, optional=True),
    Column("right time", lambda pair: pair.pair.right and pair.pair.right.time_s, fmt.duration_s, TIMED, optional=True),
    Column("differs", lambda pair: pair.differences, optional=True),
    Column("fusion", lambda pair: pair.fusion, optional=True, marked=True),
    _aspect("kind"),
    _aspect("tiling"),
    _aspect("config", "Several where only timing on the device could choose", 200),
    _aspect("registers", "Registers of a thread"),
    _aspect("spills"),
    _aspect("shared memory", "Shared memory of a block"),
    _aspect("occupancy", "Theoretical occupancy"),
    _aspect("bytes"),
    _aspect("calls"),
    _aspect("FLOPs"),
    Column(
        "source",
        lambda pair: {True: "same", False: UNLIKE, None: ""}[pair.pair.same_text],
        optional=True,
        marked=True,
    ),
    Column("generated name", lambda pair: pair.both("name"), help="Name that torch generated", width=200),
)
ASPECT_COLUMNS: tuple[Column[tuple[str, ...]], ...] = (
    Column("", lambda row: row[0]),
    Column("left", lambda row: row[1], optional=True),
    Column(UNLIKE, lambda row: row[2], optional=True, marked=True),
    Column("right", lambda row: row[3], optional=True),
)
GUARD_COLUMNS: tuple[Column[tuple[str, Guard]], ...] = (
    Column("in", lambda row: row[0]),
    Column("kind", lambda row: one_line(row[1].kind, LONGEST_LINE)),
    Column("value", lambda row: one_line(row[1].source, LONGEST_LINE)),
    Column("expression", lambda row: one_line(row[1].expression, LONGEST_TEXT)),
)
