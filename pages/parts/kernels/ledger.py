"""The kernel ledger of a compilation: its rows, the search, and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from core.analysis.kernels import LedgerRow, ceilings, kernel_ledger, summary
from core.base import words as fmt
from core.report import Compilation, Kernel
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import MAX_LINE_CHARS
from pages.parts.code import kernel_colours
from pages.parts.kernels.call_bar import call_bar
from pages.parts.kernels.ledger_charts import treemap
from pages.parts.kernels.ledger_words import traffic_words
from pages.parts.kernels.roofline import roofline_chart
from pages.session import url
from pages.session.cache import cached
from pages.session.figures import kept, theme
from pages.session.tables import picked_points
from pages.session.view import View

TIME, ESTIMATED, TRAFFIC, ROOFLINE = "time", "estimated time", "traffic", "roofline"


@cached()
def _rows(run_id: str, log_bytes: int, compile_id: str, _view: View) -> tuple[LedgerRow, ...]:
    return kernel_ledger(_view.report, _view.compilation, _view.text)


def rows_of(view: View) -> tuple[LedgerRow, ...]:
    """Return the ledger of the compilation, with facts from the sources of its C++ kernels."""
    return _rows(view.run.id, view.report.log_bytes, view.compilation.id, view)


def _take_point(key: str) -> None:
    """Select the picked kernel in the URL, as the callback of a chart."""
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{str(point['customdata'][0]).rpartition('@')[0]}")


def chosen_kernel(compilation: Compilation, rows: Sequence[LedgerRow]) -> Kernel:
    """Return the kernel that the URL selects, else the worst."""
    by_id = {kernel.id: kernel for kernel in compilation.kernels}
    return by_id.get((url.selected() or "").removeprefix("k:"), by_id[rows[0].kernel])


def filtered(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Return the rows that match the search and the pills."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.text_input(
            "Search",
            key="kernel-search",
            placeholder="name, op, module",
            max_chars=MAX_LINE_CHARS,
            label_visibility="collapsed",
            width=220,
        )
        wanted = st.pills("Kind", kinds, selection_mode="multi", key="kernel-kinds", label_visibility="collapsed")
    kept = [row for row in rows if not wanted or row.kind in wanted]
    return [row for row in kept if asked.lower() in _searched(row)]


def _searched(row: LedgerRow) -> str:
    """Return the text that the search looks through."""
    return " ".join(
        [row.label, row.name, row.kind, row.direction, *row.ops, *(part for module in row.modules for part in module)]
    ).lower()


def picture(view: View, rows: Sequence[LedgerRow]) -> str | None:
    """Let the visitor choose a picture, of those that the rows have figures for."""
    limits, compile_id = ceilings(view.report), view.compilation.id
    of_time = TIME if any(row.measured for row in rows) else ESTIMATED
    views = [*([of_time] if any(row.time_s for row in rows) else []), TRAFFIC]
    views += [ROOFLINE] if limits and any(row.intensity and row.flops_s for row in rows) else []
    return st.segmented_control(
        "Picture", views, default=views[0], key=f"view-{compile_id}", label_visibility="collapsed"
    )


def chart(view: View, rows: Sequence[LedgerRow], shape: str | None, selected: str) -> None:
    """Draw the chosen picture; only that one is made."""
    limits, compile_id = ceilings(view.report), view.compilation.id
    colours, on = kernel_colours(view.report), theme()
    if shape is None:
        return

    def make() -> go.Figure:
        if shape == ROOFLINE and limits is not None:
            return roofline_chart(rows, limits, colours, selected, on)
        if shape == TRAFFIC:
            return treemap(rows, lambda row: row.bytes_moved, traffic_words, colours, selected, on)
        return treemap(rows, lambda row: row.total_s, lambda seconds, _: fmt.duration_s(seconds), colours, selected, on)

    ids = ",".join(row.id for row in rows)
    figure = kept(make, "kernels", view.run.id, view.report.log_bytes, compile_id, shape, selected, on, ids)
    key = f"chart-{compile_id}-{shape}"
    st.plotly_chart(
        figure,
        theme=None,
        config=PLOTLY_CONFIG,
        key=key,
        on_select=partial(_take_point, key),
        selection_mode="points",
    )


def compiled_call(view: View) -> None:
    """Draw one compiled call as a bar of its parts; nothing unless both it and its kernels were measured."""
    found = summary(view.report)
    if found is None or found.call_s is None:
        return
    st.html(call_bar(found, theme()))
