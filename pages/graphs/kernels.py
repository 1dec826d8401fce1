"""Kernels: what Inductor generated, from kernel to FX nodes to the user's lines and back."""

import pandas as pd
import streamlit as st

from core.report import Compilation, Kernel
from pages.components import format as fmt
from pages.components import state
from pages.components.downloads import json_twin, text_twin
from pages.components.glossary import GLOSSARY
from pages.components.header import require_report
from pages.components.kernel_panel import kernel_code, kernel_source, user_lines
from pages.components.text import code, one_line

COLUMNS = {
    "read": st.column_config.NumberColumn(format="bytes"),
    "written": st.column_config.NumberColumn(format="bytes"),
    "FLOP": st.column_config.NumberColumn(format="compact"),
}


def row(kernel: Kernel) -> dict[str, object]:
    """One kernel as a row of the table."""
    direction = kernel.id.split(".")[1] if kernel.id.count(".") else ""
    return {
        "kernel": one_line(kernel.name, 120),
        "language": kernel.language,
        "kind": kernel.category,
        "graph": direction,
        "FX nodes": len(kernel.origins),
        "calls": len(kernel.call_lines),
        "read": kernel.bytes_read,
        "written": kernel.bytes_written,
        "FLOP": kernel.flops,
        "lines": kernel.lines[1] - kernel.lines[0] + 1,
    }


def chosen(item: Compilation, rows: list[int]) -> Kernel:
    """The kernel of the picked row, else the one that the URL selects, else the one with the most FX nodes."""
    if rows and rows[0] < len(item.kernels):
        return item.kernels[rows[0]]
    selected = (state.selected() or "").removeprefix("k:")
    found = next((kernel for kernel in item.kernels if kernel.id == selected), None)
    return found or max(item.kernels, key=lambda kernel: (not kernel.extern, len(kernel.origins)))


here, report = require_report("The kernels that Inductor generated will stand here.")
item = state.compilation(report)
if item is None or not item.kernels:
    st.title("This compilation has no kernel.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

generated = [kernel for kernel in item.kernels if not kernel.extern]
st.title(
    f"{fmt.count(len(generated), 'generated kernel')} and {fmt.count(len(item.kernels) - len(generated), 'extern kernel')}.",
    anchor=False,
    help=GLOSSARY["kernel"],
)
event = st.dataframe(
    pd.DataFrame([row(kernel) for kernel in item.kernels]),
    hide_index=True,
    on_select="rerun",
    selection_mode="single-row",
    key=f"kernels-{item.id}",
    column_config=COLUMNS,
    height="auto" if len(item.kernels) <= 8 else 322,
)
kernel = chosen(item, event.selection.rows)
state.select(f"k:{kernel.id}")
text = state.text(here, kernel.output_code)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(code(kernel.name))
    whole = st.toggle("whole output code", key="whole", bind="query-params")
    text_twin(kernel.name, kernel_code(kernel, text), key="kernel")
    json_twin(kernel.name, kernel, key="kernel")
left, right = st.columns([3, 2], gap="medium")
with left:
    kernel_source(kernel, item, report, text, whole)
with right:
    user_lines(here, report, item, kernel)
