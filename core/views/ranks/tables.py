"""Tables about ranks: a row for each compilation or collective, a column for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.analysis.ranks import RankGroup
from core.analysis.ranks.differences import collective_text
from core.base import words as fmt
from core.report.ranks import Fingerprint, RankCompilation, RankMark
from core.views.markdown import LONGEST_LINE, one_line
from core.views.ranks.difference import DifferenceView, ranks_words

# Groups that get a column in tables; the others are counted.
MOST_COLUMNS = 6
MOST_ROWS = 500
ABSENT = "–"
# Graphs that have the same collectives, the latest stage first.
STAGES = (
    ("inductor_post_grad_graph", "after_post_grad_graph"),
    ("aot_inference_graph", "aot_forward_graph", "aot_backward_graph"),
    ("aot_joint_graph",),
    ("dynamo_output_graph",),
)
Columns = Mapping[str, Fingerprint]
Cell = Callable[[list[RankMark], RankCompilation | None], str]
Row = dict[str, Any]


def compilation_table(columns: Columns, cell: Cell) -> list[Row]:
    """Return a row for each compile id, in causal order, with a cell for each column, and a mark where they differ."""
    marks = {name: _by_id(fingerprint) for name, fingerprint in columns.items()}
    compilations = {name: {one.id: one for one in fingerprint.compilations} for name, fingerprint in columns.items()}
    ids = dict.fromkeys(compile_id for column in marks.values() for compile_id in column if compile_id)
    rows: list[Row] = []
    for compile_id in list(ids)[:MOST_ROWS]:
        found = {name: compilations[name].get(compile_id) for name in columns}
        cells = {name: cell(marks[name].get(compile_id, []), found[name]) for name in columns}
        function = next(filter(None, map(_function, found.values())), "")
        rows.append({"compilation": f"[{compile_id}]", "function": function, **cells, "≠": _mark(set(cells.values()))})
    return rows


def _by_id(fingerprint: Fingerprint) -> dict[str, list[RankMark]]:
    marks: dict[str, list[RankMark]] = {}
    for mark in fingerprint.marks:
        marks.setdefault(mark.compile_id, []).append(mark)
    return marks


def collective_table(columns: Columns) -> list[Row]:
    """Return a row for each collective, in the order of the graphs: each group's op, size and process group."""
    ids = dict.fromkeys(mark.compile_id for column in columns.values() for mark in column.marks if mark.collectives)
    rows: list[Row] = []
    for compile_id in list(ids)[:MOST_ROWS]:
        lists = _collectives(columns, compile_id)
        for index in range(max(map(len, lists.values()))):
            cells = {name: texts[index] if index < len(texts) else ABSENT for name, texts in lists.items()}
            place = {"#": index + 1, "compilation": f"[{compile_id}]"}
            rows.append({**place, **cells, "≠": _mark(set(cells.values()))})
    return rows[:MOST_ROWS]


def group_row(place: int, group: RankGroup, view: DifferenceView | None) -> Row:
    return {
        "group": place + 1,
        "ranks": one_line(ranks_words(group.ranks), LONGEST_LINE),
        "number": len(group.ranks),
        "differs from": f"[{view.difference.compile_id}]" if view else "the reference" if not place else "not compared",
        "in": view.difference.kind if view else "",
        "at": view.difference.place.short if view and view.difference.place else "",
    }


def column_title(group: RankGroup) -> str:
    more = len(group.ranks) - 1
    return f"rank {group.rank}" + (f" and {fmt.number(more)} more" if more else "")


def _mark(texts: set[str]) -> str:
    return "≠" if len(texts) > 1 else ""


def _function(compilation: RankCompilation | None) -> str:
    place = compilation.place if compilation else None
    return one_line(f"{place.name} {place.short}", LONGEST_LINE) if place else ""


def compilation_cell(marks: list[RankMark], _: RankCompilation | None) -> str:
    """Return the number of graphs, and whether it is a recompile, failed, or has no end."""
    if not marks:
        return ABSENT
    kinds = [mark.kind for mark in marks]
    errors = (one_line(mark.text) for mark in marks if mark.kind == "end" and mark.text)
    state = next(errors, "") if "end" in kinds else "no end recorded"
    parts = [fmt.count(kinds.count("graph"), "graph"), "recompile" if "recompile" in kinds else "", state]
    return ", ".join(filter(None, parts))


def cache_cell(marks: list[RankMark], _: RankCompilation | None) -> str:
    """Return the outcome of each cache in order."""
    outcomes = (f"{mark.name.removesuffix('_cache')} {mark.text}" for mark in marks if mark.kind == "cache")
    return ", ".join(outcomes) or ABSENT


def tensor_cell(marks: list[RankMark], compilation: RankCompilation | None) -> str:
    """Return the number of outputs in the tensor metadata, the digest of the metadata, and the estimated time."""
    if compilation is None or compilation.estimated_us is None:
        return ABSENT
    digest = ", ".join(mark.digest[:6] for mark in marks if mark.kind == "tensors")
    estimate = compilation.estimated_us / 1e6
    time = f"estimated {fmt.duration_s(estimate)}" if estimate else "no estimate for this device"
    return f"{fmt.count(compilation.tensors, 'tensor')} ({digest}), {time}"


def _collectives(columns: Columns, compile_id: str) -> dict[str, list[str]]:
    """Return each group's collectives of a compilation: of the latest stage in which they differ, or of the latest."""
    graphs = {
        name: [mark for mark in fingerprint.marks if mark.collectives and mark.compile_id == compile_id]
        for name, fingerprint in columns.items()
    }
    stages = [{name: _of_stage(marks, names) for name, marks in graphs.items()} for names in STAGES]
    logged = [stage for stage in stages if any(stage.values())]
    unlike = [stage for stage in logged if len(set(map(tuple, stage.values()))) > 1 and all(stage.values())]
    return next(iter((*unlike, *logged)), {name: [] for name in columns})


def _of_stage(marks: list[RankMark], names: tuple[str, ...]) -> list[str]:
    calls = (call for mark in marks if mark.name in names for call in mark.collectives)
    return [one_line(collective_text(call), LONGEST_LINE) for call in calls]
