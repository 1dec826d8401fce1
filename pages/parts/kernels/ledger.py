"""The kernel ledger of a compilation: its rows, what is left of them by a search, and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from core.analysis import CppFacts, LedgerRow, ceilings, cpp_facts, ledger
from core.report import Compilation, Kernel, Report
from pages.look import format as fmt
from pages.look.charts import PLOTLY_CONFIG
from pages.parts.code import kernel_code, kernel_colours
from pages.parts.kernels.ledger_charts import roofline_chart, treemap
from pages.parts.kernels.ledger_words import traffic_words
from pages.session import url
from pages.session.cache import cached
from pages.session.figures import kept, theme
from pages.session.shown import Shown, text_of
from pages.session.tables import picked_points

TIME, ESTIMATED, TRAFFIC, ROOFLINE = "time", "estimated time", "traffic", "roofline"


@cached(64)
def rows_of(run_id: str, log_bytes: int, compile_id: str, _here: Shown, _report: Report) -> tuple[LedgerRow, ...]:
    """The ledger of one compilation, with the facts that the sources of its C++ kernels tell."""
    found = _report.compilation(compile_id)
    assert found is not None
    facts: dict[str, CppFacts] = {
        kernel.id: cpp_facts(kernel_code(kernel, text_of(_here, kernel.output_code)))
        for kernel in found.kernels
        if kernel.language == "cpp"
    }
    return ledger(_report, found, facts)


def _take_point(key: str) -> None:
    """A cell or point of a chart was picked."""
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{str(point['customdata'][0]).rpartition('@')[0]}")


def chosen_kernel(item: Compilation, rows: Sequence[LedgerRow]) -> Kernel:
    """The kernel that the URL selects, else the worst."""
    by_id = {kernel.id: kernel for kernel in item.kernels}
    return by_id.get((url.selected() or "").removeprefix("k:"), by_id[rows[0].kernel])


def filtered(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """The rows that the search and the pills leave."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.text_input(
            "Search", key="kernel-search", placeholder="name, op, module", label_visibility="collapsed", width=220
        )
        wanted = st.pills("Kind", kinds, selection_mode="multi", key="kernel-kinds", label_visibility="collapsed")
    kept = [row for row in rows if not wanted or row.kind in wanted]
    return [row for row in kept if asked.lower() in _searched(row)]


def _searched(row: LedgerRow) -> str:
    """What the search looks through."""
    return " ".join(
        [row.name, row.kind, row.direction, *row.ops, *(part for pair in row.modules for part in pair)]
    ).lower()


def chart(run_id: str, item: Compilation, report: Report, rows: Sequence[LedgerRow], selected: str) -> None:
    """The picture that was asked for; only that one is drawn."""
    limits = ceilings(report)
    of_time = TIME if any(row.measured for row in rows) else ESTIMATED
    views = [*([of_time] if any(row.time_s for row in rows) else []), TRAFFIC]
    views += [ROOFLINE] if limits and any(row.intensity and row.flops_s for row in rows) else []
    view = st.segmented_control("Picture", views, default=views[0], key=f"view-{item.id}", label_visibility="collapsed")
    colours, on = kernel_colours(report), theme()
    if view is None:
        return

    def make() -> go.Figure:
        if view == ROOFLINE and limits is not None:
            return roofline_chart(rows, limits, colours, selected, on)
        if view == of_time:
            return treemap(
                rows, lambda row: row.total_s, lambda seconds, _: fmt.duration_s(seconds), colours, selected, on
            )
        return treemap(rows, lambda row: row.bytes_moved, traffic_words, colours, selected, on)

    ids = ",".join(row.kernel for row in rows)
    figure = kept(make, "kernels", run_id, report.log_bytes, item.id, view, selected, on, ids)
    key = f"chart-{item.id}-{view}"
    st.plotly_chart(
        figure,
        theme=None,
        config=PLOTLY_CONFIG,
        key=key,
        on_select=partial(_take_point, key),
        selection_mode="points",
    )
