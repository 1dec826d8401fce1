"""The contract between torch.compile and a backend with the numbers of a run: the data of its
picture, and its calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from core.analysis import CallUse, frame_names
from core.analysis.backend import BackendRow, StripCell
from core.base import words as fmt
from core.report import Report
from pages.components.contract.view import ContractData, GivenData, StationData
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line

LETTERS: dict[CallUse, str] = {"compiled": "g", "failed": "f", "used": "r", "unknown": "?", "": " "}
LEGEND = {
    "g": "the call met new code: the backend was given its graph",
    "f": "the backend was given it, and failed",
    "r": "the guards held: what was returned ran again",
    "?": "not recorded whether it ran",
}
WORDS: dict[CallUse, str] = {
    "compiled": "the backend was given the graph",
    "failed": "the backend failed",
    "used": "ran again",
    "unknown": fmt.NOT_RECORDED,
    "": "",
}
NEVER, LATER = "none", "told at the end of the run"
ONCE, ALWAYS = "once for each graph", "at each call whose guards hold"


def contract(report: Report, rows: Sequence[BackendRow], chosen: str, going: bool = False) -> ContractData:
    """Return the picture's data: its stations with the numbers of all compilations, and a line for each compilation.

    Executions are recorded at the end of a run.
    """
    names, untold = frame_names(report), LATER if going else fmt.NOT_RECORDED
    return ContractData(
        stations=_stations(report, rows, untold),
        once=ONCE,
        always=ALWAYS,
        rows=tuple(_line(row, names, report, untold) for row in rows),
        legend=LEGEND,
        chosen=chosen,
    )


def _stations(report: Report, rows: Sequence[BackendRow], untold: str) -> tuple[StationData, ...]:
    made = [one for row in rows for one in row.invocations]
    failed = sum(bool(one.problem) for one in made)
    nodes = sum(len(one.nodes) + one.left_out for one in made)
    took_s = sum(one.seconds for one in made)
    back = fmt.count(len(made) - failed, "callable")
    return (
        StationData("Dynamo", "captures a frame", f"{fmt.count(len(rows), 'compilation')}"),
        StationData(
            "graph", "a GraphModule, and tensors", f"{fmt.count(len(made), 'graph')}, {fmt.count(nodes, 'node')}"
        ),
        StationData(
            one_line(", ".join(dict.fromkeys(one.backend for one in made)), LONGEST_NAME),
            "(gm, example_inputs)",
            f"called {fmt.count(len(made), 'time')}, {fmt.duration_s(took_s)}",
            bad=bool(failed),
        ),
        StationData(
            "callable", "compiled_fn", f"{back}, {fmt.number(failed)} failed" if failed else back, bool(failed)
        ),
        StationData("executions", "compiled_fn(*inputs)", _ran(report, rows, untold)),
    )


def _ran(report: Report, rows: Sequence[BackendRow], untold: str) -> str:
    if all(row.ran is None for row in rows):
        return NEVER if all(_is_failed(row) for row in rows) else untold
    times = sum(row.ran.calls for row in rows if row.ran)
    return f"{fmt.number(times)} in {fmt.count(len(report.calls), 'call')}"


def _is_failed(row: BackendRow) -> bool:
    """Return True if the last invocation failed, so that the backend returned nothing that could run."""
    return bool(row.invocations[-1].problem)


def _line(row: BackendRow, names: Mapping[str, str], report: Report, untold: str) -> GivenData:
    made, frame = row.invocations[-1], row.compilation.frame
    at = f" · {frame.short}" if frame.file else ""
    return GivenData(
        id=row.compilation.id,
        cells=(
            one_line(f"{names.get(row.compilation.id, frame.name)}{at}", LONGEST_LINE),
            one_line(f"{fmt.count(len(made.nodes) + made.left_out, 'node')}: {', '.join(made.inputs)}", LONGEST_LINE),
            fmt.duration_s(sum(one.seconds for one in row.invocations)),
            one_line(made.problem or made.returned.replace("`", ""), LONGEST_LINE),
        ),
        failed=_is_failed(row),
        marks="".join(LETTERS[cell.use] for cell in row.cells),
        said=tuple(_said(cell, report) for cell in row.cells),
        ran=_ran_words(row, untold),
    )


def _ran_words(row: BackendRow, untold: str) -> str:
    if row.ran is None:
        return NEVER if _is_failed(row) else untold
    beside = f", {fmt.number(row.ran.measured)} outside of calls" if row.ran.measured else ""
    return f"{fmt.count(row.ran.calls, 'execution')}{beside}"


def _said(cell: StripCell, report: Report) -> str:
    """Describe for a mark of the strip how a call used a compilation."""
    given = next((call.inputs for call in report.calls if call.index == cell.call), "")
    parts = [LEGEND.get(LETTERS[cell.use], ""), cell.because.replace("`", ""), _seconds(cell)]
    words = "; ".join(filter(None, parts)) or "not of this compilation"
    return one_line(
        f"call {cell.call} with {given}: {words}" if given else f"call {cell.call}: {words}", LONGEST_LINE * 2
    )


def _seconds(cell: StripCell) -> str:
    if not cell.executions:
        return ""
    took = fmt.duration_s(sum(one.seconds for one in cell.executions))
    return f"{fmt.count(len(cell.executions), 'execution')}, {took}"


def call_table(row: BackendRow, report: Report) -> pd.DataFrame:
    """Draw the calls that concern a compilation, with the guard that passed each or made it recompile."""
    inputs = {call.index: call.inputs for call in report.calls}
    return pd.DataFrame(
        [
            {
                "call": fmt.number(cell.call),
                "with": one_line(inputs.get(cell.call, ""), LONGEST_LINE),
                "what became of it": WORDS[cell.use],
                "why": one_line(cell.because.replace("`", ""), LONGEST_LINE),
                "executions": _seconds(cell),
            }
            for cell in row.cells
            if cell.use
        ]
    )
