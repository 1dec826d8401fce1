"""MLX beside torch: the same functions in both, from a run or from the recording that ships with Compileboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.analysis import difference_words, side_times
from core.base import words as fmt
from core.base.decoder import decoded_as
from core.report import LazyNode, PortedFunction, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain

RECORDING = Path(__file__).with_name("mlx.json")
MLX = "MLX"
INSTALL = 'pip install "mlx[cpu]"'
MOST_FUNCTIONS = 32
MOST_NODES = 60
LONGEST_BOX = 40
LAZY = (
    "MLX compiles no model of torch: the function is written anew. A call only builds a graph. `mx.eval` computes it, "
    "and `mx.compile` fuses its elementwise primitives. Bytes are those that MLX allocates; a constant takes 4."
)


@dataclass(frozen=True, slots=True)
class MlxRecording:
    """Functions in torch and MLX, recorded once on one machine; without times, which belong to that machine."""

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
    """A primitive of a lazy graph in a drawing; `column` is the longest way from the input, `row` counts from the top.

    `reads` are the indices of boxes; the input `x` is the first box.
    """

    name: str
    column: int
    row: int
    reads: tuple[int, ...]


@dataclass(frozen=True)
class MlxView:
    """The functions that a run compared in MLX; those of the recording if MLX is not installed there."""

    report: Report

    introduction = LAZY

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
    def rows(self) -> list[dict[str, str]]:
        """A row for each function."""
        return [_row(function) for function in self.functions]

    def code(self, function: PortedFunction, *, compiled: bool) -> str:
        """Return a function of MLX as code, without or with `mx.compile`."""
        body = function.mlx[:LONGEST_LINE]
        return f"y = mx.compile(lambda x: {body})(x)" if compiled else f"y = {body}"

    def boxes(self, function: PortedFunction, *, compiled: bool) -> list[LazyBox]:
        """Return the lazy graph of a function as boxes, input first."""
        return _boxes(function.compiled_graph if compiled else function.graph)

    @property
    def _of_run(self) -> tuple[PortedFunction, ...]:
        return next((item.ported for item in self.report.neighbours if item.ported), ())


def _is_same(function: PortedFunction) -> bool:
    return bool(function.differences) and all(difference.same for difference in function.differences)


def _row(function: PortedFunction) -> dict[str, str]:
    unequal = [difference for difference in function.differences if not difference.same]
    times = {side.side: fmt.duration_s(side.median_s) for side in side_times(function.times)} if function.times else {}
    return {
        "function": one_line(function.name, LONGEST_NAME),
        "torch": one_line(function.torch, LONGEST_LINE),
        "MLX": one_line(function.mlx, LONGEST_LINE),
        "result": one_line(difference_words(unequal[0], MLX), LONGEST_LINE) if unequal else "equals torch",
        "before mx.eval": _step(len(function.graph), function.built_bytes, function.built_s),
        "after mx.eval": _step(function.left, function.computed_bytes, function.computed_s),
        "after mx.compile": fmt.count(len(function.compiled_graph), "primitive"),
        **{name: times[side] for name, side in SIDES.items() if side in times},
    }


SIDES = {"eager": "eager", "compiled": "compiled", "MLX, a call": "mlx", "MLX, compiled": "mlx compiled"}


def _step(pending: int, bytes_: int, seconds: float) -> str:
    """Return what is pending after a step, what the step allocated, and its first duration."""
    return f"{fmt.count(pending, 'primitive')} pending, {fmt.bytes_(bytes_)}, {fmt.duration_s(seconds)}"


def _boxes(nodes: Sequence[LazyNode]) -> list[LazyBox]:
    """Place each primitive one column after the last of those that it reads, and read the input if it reads none."""
    boxes, rows = [LazyBox("x", 0, 0, ())], {0: 1}
    for index, node in enumerate(nodes[:MOST_NODES]):
        reads = tuple(read + 1 for read in node.reads if 0 <= read < index) or (0,)
        column = 1 + max(boxes[read].column for read in reads)
        boxes.append(LazyBox(one_line(node.name, LONGEST_BOX), column, rows.get(column, 0), reads))
        rows[column] = rows.get(column, 0) + 1
    return boxes


__all__ = ["LazyBox", "MlxRecording", "MlxView", "mlx_recording"]
