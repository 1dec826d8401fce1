"""The look of every Plotly chart: transparent paper, a thin grid, the fonts of the page, one order of colours."""

from __future__ import annotations

from functools import cache
from typing import Any

import plotly.graph_objects as go

from pages.look.palette import GRID, INK, KERNEL_COLOURS, MUTED, PAPER, Theme

TEXT_FONT = "Inter, sans-serif"
CODE_FONT = "JetBrains Mono, monospace"

# For st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG): Streamlit's own theme would override the layout.
PLOTLY_CONFIG: dict[str, Any] = {"displayModeBar": False, "displaylogo": False, "scrollZoom": False, "responsive": True}


def plotly_layout(theme: Theme) -> dict[str, Any]:
    """Give the look of a chart, for figure.update_layout(**plotly_layout(theme)); what the figure itself says wins."""
    return {"template": _template(theme)}


@cache
def _template(theme: Theme) -> go.layout.Template:
    """Made once: Plotly takes thirty times as long to check it in each figure anew."""
    bars = {"error_x": _error_bar(theme), "error_y": _error_bar(theme), "marker": {"line": {"width": 0}}}
    lines = {"error_x": _error_bar(theme), "error_y": _error_bar(theme), "line": {"width": 1.75}, "marker": {"size": 6}}
    return go.layout.Template(layout=_layout(theme), data={"bar": [bars], "scatter": [lines]})


def _layout(theme: Theme) -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": TEXT_FONT, "size": 12, "color": MUTED[theme]},
        "title": {"font": {"size": 14, "color": INK[theme]}, "x": 0, "xanchor": "left"},
        "margin": {"l": 8, "r": 12, "t": 28, "b": 8},
        "colorway": list(KERNEL_COLOURS),
        "bargap": 0.32,
        "barcornerradius": 2,
        "xaxis": _axis(theme),
        "yaxis": _axis(theme),
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "title": {"text": ""},
            "font": {"color": INK[theme]},
        },
        "hoverlabel": {
            "bgcolor": PAPER[theme],
            "bordercolor": GRID[theme],
            "font": {"family": CODE_FONT, "size": 12, "color": INK[theme]},
            "align": "left",
        },
        "hovermode": "closest",
        "dragmode": False,
        "transition": {"duration": 0},
        "separators": ".,",
    }


def _axis(theme: Theme) -> dict[str, Any]:
    return {
        "automargin": True,
        "gridcolor": GRID[theme],
        "gridwidth": 1,
        "linecolor": GRID[theme],
        "zeroline": True,
        "zerolinecolor": GRID[theme],
        "zerolinewidth": 1,
        "ticks": "",
        "ticklabelstandoff": 6,
        "tickfont": {"color": MUTED[theme]},
        "title": {"font": {"size": 12, "color": MUTED[theme]}, "standoff": 8},
    }


def _error_bar(theme: Theme) -> dict[str, Any]:
    return {"color": INK[theme], "thickness": 1.25, "width": 3}
