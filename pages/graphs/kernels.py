"""Kernels: the ledger. Each kernel call with its traffic, arithmetic and time, held against what the device allows."""

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from core.analysis import CppFacts, LedgerRow, ceilings, cpp_facts, ledger, summary
from core.report import Compilation, Kernel, Report
from pages import menu
from pages.look import format as fmt
from pages.look.charts import PLOTLY_CONFIG
from pages.look.glossary import GLOSSARY
from pages.look.text import code
from pages.parts.code import kernel_code, kernel_colours
from pages.parts.kernels.choices import target_choices
from pages.parts.kernels.ledger_charts import roofline_chart, treemap
from pages.parts.kernels.ledger_table import COLUMNS, table
from pages.parts.kernels.ledger_words import ceiling_words, disturbed, sums, title, traffic_words, untimed, worst
from pages.parts.kernels.source import kernel_source, user_lines
from pages.parts.run.retarget import retarget
from pages.session import url
from pages.session.cache import cached
from pages.session.downloads import json_twin, text_twin
from pages.session.figures import kept, theme
from pages.session.require import require_report
from pages.session.shown import Shown, shown_compilation, text_of
from pages.session.tables import picked_points, select_row

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


def take_point(key: str) -> None:
    """A cell or point of a chart was picked."""
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{str(point['customdata'][0]).rpartition('@')[0]}")


def chosen(item: Compilation, rows: Sequence[LedgerRow]) -> Kernel:
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
    return [row for row in kept if asked.lower() in searched(row)]


def searched(row: LedgerRow) -> str:
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
        on_select=partial(take_point, key),
        selection_mode="points",
    )


here, report = require_report("The kernels that Inductor generated will stand here.")
item = shown_compilation(report)
if item is None or not item.kernels:
    st.title("This compilation has no kernel.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

rows = rows_of(here.run.id, report.log_bytes, item.id, here, report)
limits = ceilings(report)
kernel = chosen(item, rows)
st.title(title(rows), anchor=False, help=GLOSSARY["kernel"])
if any(row.measured for row in rows):
    st.caption(worst(rows) + disturbed(report) + sums(summary(report)) + ceiling_words(limits))
else:
    target = limits.device if limits and limits.source == "datasheet" else ""
    st.caption(untimed(report, target) + (ceiling_words(limits) if limits else ""))
target_choices(item)
left, right = st.columns([2, 3], gap="medium")
with right:
    shown = filtered(rows)
    key = f"kernels-{item.id}"
    st.dataframe(
        table(shown) if shown else None,
        hide_index=True,
        on_select=partial(select_row, key, [f"k:{row.kernel}" for row in shown]),
        selection_mode="single-row",
        key=key,
        column_config=COLUMNS,
        height=340,
    )
with left:
    chart(here.run.id, item, report, shown, kernel.id)

url.select(f"k:{kernel.id}")
text = text_of(here, kernel.output_code)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(code(kernel.name))
    if not kernel.extern:
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(menu.KERNEL.script, label="Open the kernel", icon=menu.KERNEL.icon, query_params=link)
    whole = st.toggle("whole output code", key=url.WHOLE, bind="query-params")
    retarget(here)
    text_twin(kernel.name, kernel_code(kernel, text), key="kernel")
    json_twin("kernel-ledger", rows, key="kernel")
left, right = st.columns([3, 2], gap="medium")
with left:
    kernel_source(kernel, item, report, text, whole)
with right:
    user_lines(here, report, item, kernel)
