"""Neighbours page: alternative compilers and runtimes on a run's model, their results and times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from core.analysis.aoti import SideTime, side_times
from core.analysis.interval import Interval, median_ratio
from core.analysis.results import difference_words
from core.analysis.verdict import target_words
from core.base import words as fmt
from core.base.decoder import decoded_as
from core.report import LazyNode, Neighbour, PortedFunction, Report
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Data,
    Drawn,
    Heading,
    InLine,
    Listing,
    PageBlock,
    Picks,
    Table,
    Text,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from core.views.numerics import NOT_COMPARED
from core.views.speedup import ratio_words
from core.views.verdict import WHILE_MEASURED, disturbed_words

# Parts that the page draws: a button, and lazy graphs.
TRY, GRAPH = "neighbours-now", "mlx-graph"
FUNCTIONS = "mlx-functions"
NOT_RECORDED = (
    "On request, a run also converts its model for TorchScript, ONNX Runtime, OpenVINO and others that are installed. "
    "Each result is compared with eager, and each call is timed beside eager and compiled."
)
NO_CALL = "No call was recorded: a neighbour needs the model itself and its inputs."
METHOD = (
    "Each neighbour converts the model in a process of its own, with the inputs of the last call. Its outputs are "
    "compared with eager's by the rules of a run. Eager, compiled and the neighbour are then timed, interleaved."
)
MOST_NEIGHBOURS = 64  #: neighbours in the table
NOT_INSTALLED = "not installed"
STAGES = {
    "start": "not tried",
    "eager": "eager failed",
    "convert": "not converted",
    "call": "call failed",
    "process": "ended",
}
RECORDING = Path(__file__).with_name("mlx.json")
MLX = "MLX"
INSTALL = 'pip install "mlx[cpu]"'
MOST_FUNCTIONS = 32  #: functions of MLX that are listed
MOST_NODES = 60  #: limit: primitives of a lazy graph that are drawn
LONGEST_BOX = 40  #: characters of a primitive's name in the drawing
LAZY = (
    "MLX compiles no model of torch: the function is written anew. A call only builds a graph. `mx.eval` computes it, "
    "and `mx.compile` fuses its elementwise primitives. Bytes are those that MLX allocates; a constant takes 4."
)


def neighbours(report: Report, picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield the neighbours of a run, and functions of MLX with the lazy graphs of the selected one."""
    view = NeighboursView(report)
    yield Title(spans(view.title), GLOSSARY["neighbour"])
    if view.state != "recorded":
        yield from paragraph(view.paragraph)
        yield Drawn(TRY)
        return
    yield from paragraph(view.paragraph, "quiet")
    yield Table("neighbours", COLUMNS, view.neighbours)
    yield InLine((Data("neighbours", report.neighbours),))
    mlx = MlxView(report)
    yield Heading(mlx.heading)
    yield from paragraph(mlx.origin)
    yield from paragraph(LAZY, "quiet")
    yield Table(FUNCTIONS, FUNCTION_COLUMNS, mlx.functions, pick="Select a function to see its lazy graphs.")
    function = picks.row(FUNCTIONS, mlx.functions) or mlx.functions[0]
    body = function.mlx[:LONGEST_LINE]
    yield Beside(
        _lazy("Pending before mx.eval", f"y = {body}", function.graph),
        _lazy("With mx.compile", f"y = mx.compile(lambda x: {body})(x)", function.compiled_graph),
    )


def _lazy(title: str, text: str, graph: Sequence[LazyNode]) -> tuple[PageBlock, ...]:
    """Return a function as code, and its lazy graph, elsewhere the names of its primitives."""
    found = boxes(graph)
    names = Text(spans(plain(", ".join(box.name for box in found))))
    return Listing(title, Code(text), is_open=True), Drawn(GRAPH, (names,), (title, found))


@dataclass(frozen=True, slots=True)
class NeighbourView:
    """Texts about a neighbour, without markup: its state, its results and its times."""

    neighbour: Neighbour

    @property
    def ran(self) -> bool:
        """True if the neighbour executed the call."""
        return self.neighbour.call_s is not None

    @property
    def installed(self) -> str:
        """Version, or "yes" for an unknown one; empty if the neighbour is not installed."""
        return one_line(self.neighbour.version, LONGEST_NAME) or ("" if self.neighbour.missing else "yes")

    @property
    def state(self) -> str:
        """State in words: runs, not installed, not tried, or the stage that failed."""
        if self.neighbour.missing:
            return NOT_INSTALLED
        return "runs" if self.ran else STAGES.get(self.neighbour.stage, "not tried")

    @property
    def same(self) -> bool | None:
        """True if the neighbour's results equal eager's; None if undecided, or if nothing was compared."""
        outcomes = {difference.same for difference in self.neighbour.differences}
        return False if False in outcomes else None if None in outcomes or not outcomes else True

    @property
    def result(self) -> str:
        """The comparison with eager; empty if the neighbour did not run."""
        if not self.ran:
            return ""
        return {True: "equals eager", False: "differs", None: "not comparable"}[self.same]

    @property
    def why(self) -> str:
        """Reason why the neighbour did not run or its result differs; empty without a problem."""
        if self.neighbour.missing:
            return self.neighbour.install
        if self.neighbour.problem:
            return self.neighbour.problem
        unequal = (difference for difference in self.neighbour.differences if difference.same is not True)
        return next((difference_words(difference, self.neighbour.name) for difference in unequal), "")

    @property
    def sides(self) -> dict[str, SideTime]:
        """Timed sides by name; empty if nothing was timed."""
        times = self.neighbour.times
        return {side.side: side for side in side_times(times)} if times is not None else {}

    @property
    def over_compiled(self) -> Interval | None:
        """Speedup of the neighbour over compiled; None if a side was not timed or has too few samples."""
        times = self.neighbour.times
        if times is None:
            return None
        steady = [times.sides.get(side, ())[times.warm_up :] for side in ("compiled", "neighbour")]
        return median_ratio(*steady) if all(steady) else None

    @property
    def timed(self) -> SideTime | None:
        """Time of a call of the neighbour; None if it was not timed."""
        return self.sides.get("neighbour")


def _over_compiled(view: NeighbourView) -> str:
    return ratio_words(view.over_compiled) if view.timed and "compiled" in view.sides else ""


COLUMNS: tuple[Column[NeighbourView], ...] = (
    Column("neighbour", lambda view: one_line(view.neighbour.name, LONGEST_NAME)),
    Column("installed", lambda view: view.installed, width=100),
    Column("runs this model", lambda view: view.state),
    Column("result", lambda view: view.result, width=105),
    Column("why", lambda view: one_line(view.why, LONGEST_LINE), width=250),
    Column("a call", lambda view: view.timed and view.timed.median_s, fmt.duration_s, width=85),
    Column("speedup over eager", lambda view: ratio_words(view.timed.faster) if view.timed else "", width=145),
    Column("speedup over compiled", _over_compiled, width=145),
    Column("conversion", lambda view: view.neighbour.convert_s, fmt.duration_s),
    Column("first call", lambda view: view.neighbour.call_s, fmt.duration_s),
    Column("as code", lambda view: one_line(view.neighbour.call, LONGEST_LINE), width=420),
)


@dataclass(frozen=True)
class NeighboursView:
    """The neighbours of a run, in the order in which they were tried."""

    report: Report

    @property
    def state(self) -> str:
        """State of the comparison: `not run`, `not recorded`, or `recorded`."""
        if target_words(self.report):
            return "not run"
        return "recorded" if self.report.neighbours else "not recorded"

    @property
    def title(self) -> str:
        """The fastest neighbour compared with compiled, or a note that nothing was compared."""
        if self.state == "not run":
            return "Nothing was run, so no neighbour was tried."
        if self.state == "not recorded":
            return "This model was not run by other compilers and runtimes."
        return plain(f"{'; '.join(filter(None, (self._verdict, self._disturbed)))}.")

    @property
    def paragraph(self) -> str:
        """Number of neighbours that ran the model and how they were compared; otherwise why none was tried."""
        if self.state == "not run":
            return f"The code was {target_words(self.report)}."
        if self.report.script is not None:
            return NOT_COMPARED
        if self.state == "not recorded":
            return NOT_RECORDED if self.report.setting.run else NO_CALL
        return f"{plain(self._counts)}\\. {METHOD}"

    @cached_property
    def neighbours(self) -> tuple[NeighbourView, ...]:
        """The neighbours, at most `MOST_NEIGHBOURS`."""
        return tuple(map(NeighbourView, self.report.neighbours[:MOST_NEIGHBOURS]))

    @property
    def line(self) -> str:
        """The verdict with its counts in one line; empty without records."""
        words = "; ".join(filter(None, (self._verdict, self._disturbed, self._counts)))
        return f"neighbours: {words}" if self.state == "recorded" else ""

    @property
    def _ran(self) -> list[NeighbourView]:
        return [neighbour for neighbour in self.neighbours if neighbour.ran]

    @property
    def _verdict(self) -> str:
        if not self._ran:
            return "No other compiler or runtime ran this model"
        timed = [(ratio, neighbour) for neighbour in self._ran if (ratio := neighbour.over_compiled) and not ratio.wide]
        if not timed:
            return f"{fmt.count(len(self._ran), 'neighbour')} ran this model; none was timed beside compiled"
        right = [(ratio, neighbour) for ratio, neighbour in timed if neighbour.same is not False]
        ratio, best = max(right, key=lambda pair: pair[0].low, default=(None, None))
        if ratio is None or best is None or not ratio.above:
            return "No neighbour with equal results is certainly faster than compiled"
        return f"{one_line(best.neighbour.name, LONGEST_NAME)} is {ratio_words(ratio)} as fast as compiled"

    @property
    def _counts(self) -> str:
        missing = sum(bool(neighbour.neighbour.missing) for neighbour in self.neighbours)
        differing = sum(neighbour.same is False for neighbour in self._ran)
        parts = [
            f"{fmt.number(len(self._ran))} of {fmt.count(len(self.neighbours), 'neighbour')} ran it",
            f"{fmt.number(missing)} {fmt.agree(missing, 'is', 'are')} not installed" if missing else "",
            f"{fmt.number(differing)} {fmt.agree(differing, 'differs', 'differ')} from eager" if differing else "",
        ]
        return ", ".join(filter(None, parts))

    @property
    def _disturbed(self) -> str:
        timed = (item.times for item in self.report.neighbours if item.times is not None)
        return disturbed_words((times.load for times in timed), WHILE_MEASURED)


@dataclass(frozen=True, slots=True)
class MlxRecording:
    """Functions in torch and MLX, recorded on one machine; without times, which depend on the machine."""

    date: str
    machine: str
    torch: str
    mlx: str
    functions: tuple[PortedFunction, ...]


@cache
def mlx_recording() -> MlxRecording:
    """Return the recording that ships with Compileboard."""
    return decoded_as(RECORDING.read_bytes(), MlxRecording)


class LazyBox(NamedTuple):
    """A primitive of a lazy graph in a drawing; the input `x` is the first box.

    `column` is the length of the longest path from the input, and `row` counts from the top. `reads` has the
    indices of the boxes that the primitive reads.
    """

    name: str
    column: int
    row: int
    reads: tuple[int, ...]


@dataclass(frozen=True)
class MlxView:
    """The functions that a run compared in MLX.

    If MLX was not installed or did not run, they come from the recording that ships with Compileboard.
    """

    report: Report

    @property
    def functions(self) -> tuple[PortedFunction, ...]:
        """The functions in display order."""
        return (self._of_run or mlx_recording().functions)[:MOST_FUNCTIONS]

    @property
    def heading(self) -> str:
        """Number of functions whose results are equal."""
        same = sum(_is_same(function) for function in self.functions)
        where = "" if self._of_run else ", as recorded"
        return f"MLX: {fmt.number(same)} of {fmt.count(len(self.functions), 'function')} equal torch's{where}"

    @property
    def origin(self) -> str:
        """Origin of the figures: this run, or the recording with its date, machine and versions."""
        if self._of_run:
            version = next(item.version for item in self.report.neighbours if item.ported)
            return f"Compared in this run with MLX {plain(version, LONGEST_NAME)}, on the CPU."
        found = mlx_recording()
        made = f"recorded on {found.date} with MLX {found.mlx} and torch {found.torch} on {found.machine}"
        return f"{self._why_not}. These figures were {plain(made)}, and not by this run."

    @property
    def _why_not(self) -> str:
        row = next((item for item in self.report.neighbours if item.name == MLX), None)
        if row is None or row.missing:
            return f"MLX is not installed here: {code(INSTALL)}"
        return f"MLX did not run here: {plain(row.problem, LONGEST_LINE)}"

    @property
    def _of_run(self) -> tuple[PortedFunction, ...]:
        return next((item.ported for item in self.report.neighbours if item.ported), ())


def _is_same(function: PortedFunction) -> bool:
    return bool(function.differences) and all(difference.same for difference in function.differences)


def _result(function: PortedFunction) -> str:
    unequal = [difference for difference in function.differences if not difference.same]
    return one_line(difference_words(unequal[0], MLX), LONGEST_LINE) if unequal else "equals torch"


def _timed(name: str, side: str) -> Column[PortedFunction]:
    def median_s(function: PortedFunction) -> float | None:
        sides = side_times(function.times) if function.times else ()
        return next((time.median_s for time in sides if time.side == side), None)

    return Column(name, median_s, fmt.duration_s, optional=True)


def _step(pending: int, bytes_: int, seconds: float) -> str:
    """Return in words the primitives pending after a step, the bytes it allocated, and its time."""
    return f"{fmt.count(pending, 'primitive')} pending, {fmt.bytes_(bytes_)}, {fmt.duration_s(seconds)}"


def boxes(nodes: Sequence[LazyNode]) -> list[LazyBox]:
    """Return boxes with each primitive one column after the last primitive, or input `x`, that it reads."""
    found, rows = [LazyBox("x", 0, 0, ())], {0: 1}
    for index, node in enumerate(nodes[:MOST_NODES]):
        reads = tuple(read + 1 for read in node.reads if 0 <= read < index) or (0,)
        column = 1 + max(found[read].column for read in reads)
        found.append(LazyBox(one_line(node.name, LONGEST_BOX), column, rows.get(column, 0), reads))
        rows[column] = rows.get(column, 0) + 1
    return found


FUNCTION_COLUMNS: tuple[Column[PortedFunction], ...] = (
    Column("function", lambda function: one_line(function.name, LONGEST_NAME)),
    Column("torch", lambda function: one_line(function.torch, LONGEST_LINE)),
    Column("MLX", lambda function: one_line(function.mlx, LONGEST_LINE)),
    Column("result", _result),
    Column("before mx.eval", lambda it: _step(len(it.graph), it.built_bytes, it.built_s)),
    Column("after mx.eval", lambda it: _step(it.left, it.computed_bytes, it.computed_s)),
    Column("after mx.compile", lambda function: fmt.count(len(function.compiled_graph), "primitive")),
    _timed("eager", "eager"),
    _timed("compiled", "compiled"),
    _timed("MLX, a call", "mlx"),
    _timed("MLX, compiled", "mlx compiled"),
)
