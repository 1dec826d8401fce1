"""Time of a package per call, compared with eager and compiled, and the sizes that it accepts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.views.aotinductor import AotInductorView
from pages.look.charts import PLOTLY_CONFIG, median_bars
from pages.session.cache import kept, theme
from pages.session.shown import RunView

COLOURS = {"eager": 3, "compiled": 0, "python": 2, "c++": 1}
BAR_PX, FRAME_PX = 36, 66


def times_part(view: RunView, aoti: AotInductorView) -> None:
    """Draw the times of all sides in one chart with quartiles, and the speedup of each over eager with its interval."""
    times = aoti.times
    st.header("Time per call", anchor=False)
    if times is None:
        st.caption(aoti.not_timed)
        return
    on = theme()
    rows = [(bar.name, bar.median_s, bar.quartiles_s, COLOURS[bar.side]) for bar in times.bars]
    height = FRAME_PX + BAR_PX * len(rows)
    figure = kept(lambda: median_bars(rows, on, height), "package-times", view.run.id, view.report.log_bytes, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="package-times")
    st.dataframe(pd.DataFrame(times.rows), hide_index=True, placeholder="")
    st.caption(times.method)


def sizes_part(aoti: AotInductorView) -> None:
    """Draw the requested dynamic dimensions, torch's own ranges, and the results of calls at their ends."""
    sizes = aoti.sizes
    st.header("Sizes", anchor=False)
    if sizes is None:
        return
    for dim in sizes.dims:
        st.caption(dim)
    if sizes.ranges:
        st.caption("`range_constraints`, as torch prints them")
        st.code(sizes.ranges, language=None)
    rows = sizes.rows
    if rows:
        st.caption("Calls with other sizes", help=aoti.trials_help)
        st.table(pd.DataFrame(rows).set_index("size"))
        for advice in sizes.advice:
            st.info(advice, icon=":material/lightbulb:")
        st.caption(sizes.checks)
