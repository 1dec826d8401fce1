"""Uses of a compilation by the calls of a run: a mark, a text and a row for each call."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis import CallUse
from core.analysis.backend import StripCell
from core.base import words as fmt
from core.report import Execution, Invocation
from core.views.markdown import LONGEST_LINE, one_line

LETTERS: dict[CallUse, str] = {"compiled": "g", "failed": "f", "used": "r", "unknown": "?", "": " "}
LEGEND = {
    "g": "new compilation: the call passed its graph to the backend",
    "f": "new compilation: the backend failed",
    "r": "guards passed: the returned callable ran again",
    "?": "not recorded whether it ran",
}
USES: dict[CallUse, str] = {
    "compiled": "the backend received the graph",
    "failed": "the backend failed",
    "used": "ran again",
    "unknown": fmt.NOT_RECORDED,
    "": "",
}
NEVER, LATER = "none", "recorded at the end of the run"


def seconds_of(records: Sequence[Invocation] | Sequence[Execution]) -> str:
    """Return the seconds of calls or executions together."""
    return fmt.duration_s(sum(record.seconds for record in records))


def no_executions(is_failed: bool, is_live: bool) -> str:
    """Return why no number of executions is known: nothing could run, or it is not recorded."""
    if is_failed:
        return NEVER
    return LATER if is_live else fmt.NOT_RECORDED


def mark_text(cell: StripCell, inputs: str) -> str:
    """Return the text of a cell of the strip: how the call used the compilation."""
    parts = [LEGEND.get(LETTERS[cell.use], ""), cell.because.replace("`", ""), _cell_executions(cell)]
    words = "; ".join(filter(None, parts)) or "not of this compilation"
    call = f"call {cell.call} with {inputs}" if inputs else f"call {cell.call}"
    return one_line(f"{call}: {words}", LONGEST_LINE * 2)


def _cell_executions(cell: StripCell) -> str:
    if not cell.executions:
        return ""
    return f"{fmt.count(len(cell.executions), 'execution')}, {seconds_of(cell.executions)}"


def call_row(cell: StripCell, inputs: str) -> dict[str, str]:
    """Return how a call used a compilation, and why."""
    return {
        "call": fmt.number(cell.call),
        "with": one_line(inputs, LONGEST_LINE),
        "what became of it": USES[cell.use],
        "why": one_line(cell.because.replace("`", ""), LONGEST_LINE),
        "executions": _cell_executions(cell),
    }
