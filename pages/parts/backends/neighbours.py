"""MLX beside torch: a row for each function, and the lazy graph of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.views.neighbours import LazyBox, MlxView
from pages.look.charts import CODE_FONT, PLOTLY_CONFIG, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme
from pages.session.server import theme
from pages.session.shown import RunView
from pages.session.tables import picked

ROW_PX, FRAME_PX = 44, 30


def mlx_part(view: RunView) -> None:
    """Draw the functions, and the graph of the picked one before `mx.eval`, without and with `mx.compile`."""
    mlx = MlxView(view.report)
    st.header(mlx.heading, anchor=False)
    st.write(mlx.origin)
    st.caption(mlx.introduction)
    rows, functions = mlx.rows, mlx.functions
    function = picked(pd.DataFrame(rows), functions, "mlx-functions", height="content") or functions[0]
    left, right = st.columns(2, gap="medium")
    for column, title, compiled in ((left, "Pending before mx.eval", False), (right, "With mx.compile", True)):
        with column:
            st.subheader(title, anchor=False)
            st.code(mlx.code(function, compiled=compiled), language="python")
            figure = lazy_graph(mlx.boxes(function, compiled=compiled), theme())
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"mlx-graph-{compiled}")


def lazy_graph(boxes: Sequence[LazyBox], on: Theme) -> go.Figure:
    """Return the drawing of a lazy graph, from top to bottom."""
    widths = {box.column: sum(other.column == box.column for other in boxes) for box in boxes}
    places = [(box.row - (widths[box.column] - 1) / 2, -box.column) for box in boxes]
    figure = go.Figure(go.Scatter(x=[x for x, _ in places], y=[y for _, y in places], mode="markers", opacity=0))
    for box, (x, y) in zip(boxes, places, strict=True):
        for read in box.reads:
            figure.add_annotation(
                x=x, y=y, ax=places[read][0], ay=places[read][1], axref="x", ayref="y", arrowhead=2,
                arrowcolor=MUTED[on], standoff=12, startstandoff=12, text="", showarrow=True,
            )  # fmt: skip
    for box, (x, y) in zip(boxes, places, strict=True):
        figure.add_annotation(
            x=x, y=y, text=box.name, showarrow=False, font={"family": CODE_FONT, "color": INK[on]},
            bgcolor=PAPER[on], bordercolor=MUTED[on], borderpad=4,
        )  # fmt: skip
    height = FRAME_PX + ROW_PX * (1 + max(box.column for box in boxes))
    figure.update_layout(**plotly_layout(on), height=height, showlegend=False, hovermode=False, margin={"l": 0, "r": 0})
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[-1.5, 1.5], **axis)
    figure.update_yaxes(range=[min(y for _, y in places) - 0.5, 0.5], **axis)
    return figure
