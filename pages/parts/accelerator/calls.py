"""The calls across the ABI, torch's fallbacks, and the time of each stage of making the programs."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views.accelerator import AcceleratorView, SegmentView
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import TALL
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, one_line_cells, plain, prose
from pages.parts.accelerator.charts import stages_chart
from pages.session import url
from pages.session.figures import kept, theme
from pages.session.tables import in_words
from pages.session.view import View

FORMS = {
    "calls": fmt.number,
    "in the runtime": fmt.duration_s,
    "beside it": fmt.duration_s,
    "temporaries": fmt.bytes_,
    "copied": fmt.number,
    "programs": fmt.number,
    "torch ran": fmt.number,
}
FEW_ROWS = 8
COLUMNS = {
    "in the runtime": st.column_config.NumberColumn(help="Mean of all calls, as the runtime's own clock has it"),
    "beside it": st.column_config.NumberColumn(
        help="The rest of a segment's call from Python and back: addresses are taken, outputs are allocated"
    ),
    "copied": st.column_config.NumberColumn(help="Inputs that were laid out in another way than when they were traced"),
    "programs": st.column_config.NumberColumn(help="Sets of sizes that have a program"),
    "torch ran": st.column_config.NumberColumn(help="Calls of the segment that torch made instead"),
}


def calls_station(view: View, segment: SegmentView) -> None:
    """Draw calls as a table, fallbacks by reason, and stages as bars."""
    accelerator = AcceleratorView(view.report, view.compilation)
    st.caption(prose(accelerator.calls))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _table(accelerator)
        for line in accelerator.fallbacks:
            st.caption(plain(line, LONGEST_TEXT))
        link = url.link(**{url.COMPILATION: view.compilation.id})
        st.page_link(menu.SPEEDUP.script, label=menu.SPEEDUP.title, icon=menu.SPEEDUP.icon, query_params=link)
    with right:
        on, name = theme(), f"stages-{view.compilation.id}-{segment.direction}"
        st.markdown(f"**Making the programs of the {plain(segment.direction, LONGEST_NAME)}**")
        figure = kept(lambda: stages_chart(segment.stages, on), name, view.run.id, view.report.log_bytes, on)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=name)


def _table(accelerator: AcceleratorView) -> None:
    rows = accelerator.call_rows
    if not rows:
        return
    shown = in_words(pd.DataFrame(one_line_cells(rows, LONGEST_NAME)), FORMS)
    height: int | Literal["content"] = "content" if len(rows) <= FEW_ROWS else TALL
    st.dataframe(shown, hide_index=True, height=height, column_config=COLUMNS, placeholder="")
