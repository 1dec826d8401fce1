"""The kernel ledger of a compilation: its table, its search, its pictures, and the compiled call as a bar."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.views.kernels import KernelsView, LedgerRow
from pages.look.charts import PLOTLY_CONFIG, blended
from pages.look.palette import ACCENT, MUTED, PAPER, Theme
from pages.look.sizes import MAX_LINE_CHARS
from pages.look.text import LONGEST_TEXT, one_line_cells, prose
from pages.parts.code import kernel_colours
from pages.parts.kernels.roofline import roofline_chart
from pages.parts.kernels.treemap import HEIGHT, treemap
from pages.session import url
from pages.session.cache import cached
from pages.session.figures import kept, theme
from pages.session.tables import in_words, picked_by_url, picked_points
from pages.session.view import View

ROOFLINE = "roofline"
UNKNOWN = "–"
# A table with fewer rows than this is only as high as its rows.
FEW = 9
FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("time", "wasted", "±", "in place", "allowed", "compile"), fmt.duration_s),
    **dict.fromkeys(("moved", "read", "written", "shared", "spills"), fmt.bytes_),
    **dict.fromkeys(("share", "of roofline", "occupancy"), fmt.percent),
    **dict.fromkeys(("calls", "registers", "loops", "FLOP/B"), fmt.number),
    "bandwidth": fmt.per_second,
    "FLOP/s": partial(fmt.per_second, unit="FLOP"),
    "FLOP": fmt.amount,
}
COLUMNS: dict[str, Any] = {
    "kernel": st.column_config.TextColumn(
        width=200, help="The module that most of it is of, and the ops that tell most of it"
    ),
    "time": st.column_config.Column(help="Median of one call of the kernel, warm and by itself", width=70),
    "moved": st.column_config.Column(help="Bytes read and written by one call", width=75),
    "wasted": st.column_config.Column(help="Time above what the roofline allows, over all calls", width=70),
    "share": st.column_config.Column(help="Of the time of all kernels", width=65),
    "of roofline": st.column_config.Column(help="Time that the roofline allows over the time taken", width=85),
    "±": st.column_config.Column(help="Half the interquartile range"),
    "in place": st.column_config.Column(help="Median where it stands in the compiled call"),
    "allowed": st.column_config.Column(help="The least time that the roofline gives"),
    "bytes are": st.column_config.TextColumn(
        help="At most, where an index depends on data or places may be read twice"
    ),
    "FLOP": st.column_config.Column(help="Torch's count; ≈ is one an op and iteration"),
    "FLOP/B": st.column_config.Column(help="Arithmetic intensity"),
    "generated name": st.column_config.TextColumn(width="medium", help="What torch calls it"),
}
# Opacity of the muted colour for the parts beside the kernels, from the inside out.
FADED = (0.9, 0.65, 0.45, 0.28)
BAR = "display:flex;height:20px;border-radius:3px;overflow:hidden"
KEYS = "display:flex;flex-wrap:wrap;gap:2px 16px;padding-top:5px;font-size:0.875rem;font-variant-numeric:tabular-nums"
MARK = "display:inline-block;width:10px;height:10px;margin-right:6px;border-radius:2px"


@cached()
def _kernels(run_id: str, log_bytes: int, compile_id: str, _view: View) -> KernelsView:
    return KernelsView.load(_view.report, _view.compilation, _view.text)


def kernels_of(view: View) -> KernelsView:
    """Return the kernels of the compilation, with facts from the sources of its C++ kernels."""
    return _kernels(view.run.id, view.report.log_bytes, view.compilation.id, view)


def _take_point(key: str) -> None:
    """Select the picked kernel in the URL, as the callback of a chart."""
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{str(point['customdata'][0]).rpartition('@')[0]}")


def filtered(kernels: KernelsView) -> tuple[LedgerRow, ...]:
    """Return the rows that match the search and the pills."""
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search",
            key="kernel-search",
            placeholder="name, op, module",
            max_chars=MAX_LINE_CHARS,
            label_visibility="collapsed",
            width=220,
        )
        kinds = st.pills(
            "Kind", kernels.kinds, selection_mode="multi", key="kernel-kinds", label_visibility="collapsed"
        )
    return kernels.matches(text, kinds)


def picture(kernels: KernelsView) -> str | None:
    """Let the visitor choose a picture of those that the rows have figures for."""
    names = kernels.pictures
    return st.segmented_control(
        "Picture", names, default=names[0], key=f"view-{kernels.compilation.id}", label_visibility="collapsed"
    )


def chart(view: View, kernels: KernelsView, rows: Sequence[LedgerRow], shape: str | None, selected: str) -> None:
    """Draw the chosen picture; only that one is made."""
    colours, on, compile_id = kernel_colours(view.report), theme(), view.compilation.id
    if shape is None:
        return

    def make() -> go.Figure:
        if shape == ROOFLINE:
            return roofline_chart(kernels, rows, colours, selected, on)
        return treemap(kernels.areas(shape, rows), colours, selected, on)

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


def ledger_table(kernels: KernelsView, rows: Sequence[LedgerRow]) -> None:
    """Draw the rows; a click selects a kernel in the URL."""
    picked_by_url(
        in_words(pd.DataFrame(one_line_cells(kernels.table(rows))), FORMS) if rows else None,
        [f"k:{row.kernel}" for row in rows],
        f"kernels-{kernels.compilation.id}",
        column_config=COLUMNS,
        height=HEIGHT if len(rows) > FEW else "content",
        placeholder=UNKNOWN,
    )


def target_choices(kernels: KernelsView) -> None:
    """Draw the choices made without the target, with their reasons; nothing if there were none."""
    if kernels.target_choices:
        with st.expander(prose(kernels.target_choices_title)):
            st.dataframe(one_line_cells(kernels.target_choices, LONGEST_TEXT), hide_index=True)


def compiled_call(kernels: KernelsView) -> None:
    """Draw one compiled call as a bar of its parts; nothing unless both it and its kernels were measured."""
    if kernels.call_parts:
        st.html(call_bar(kernels, theme()))


def call_bar(kernels: KernelsView, on: Theme) -> str:
    """Return the bar and its parts with their seconds as HTML; a tooltip describes each part."""
    parts = kernels.call_parts
    whole_s = sum(part.seconds for part in parts) or 1.0
    names = [html.escape(f"{part.name} {fmt.duration_s(part.seconds)}") for part in parts]
    bars, keys = [], []
    for index, (part, name) in enumerate(zip(parts, names, strict=True)):
        share, colour = part.seconds / whole_s, _colour(index, on)
        width = round(100 * share, 3)
        words = html.escape(f"{fmt.percent(share)}: {part.words}")
        bars.append(f'<div title="{name}, {words}" style="width:{width}%;background:{colour}"></div>')
        keys.append(f'<span title="{words}"><i style="{MARK};background:{colour}"></i>{name}</span>')
    bar = f'<div role="img" aria-label="{", ".join(names)}" style="{BAR}">{"".join(bars)}</div>'
    return f'{bar}<div style="{KEYS}">{"".join(keys)}</div>'


def _colour(index: int, on: Theme) -> str:
    return ACCENT[on] if index == 0 else blended(MUTED[on], PAPER[on], FADED[min(index, len(FADED)) - 1])
