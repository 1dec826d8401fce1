"""Style of all Plotly charts: transparent background, thin grid, the page's fonts, colour order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from core.base import words as fmt
from core.views.blocks import Bars
from core.views.comparison import RatioBar
from pages.look.palette import GRID, INK, KERNEL_COLOURS, MUTED, PAPER, Theme, kernel_colour

TEXT_FONT = "Inter, sans-serif"
CODE_FONT = "JetBrains Mono, monospace"

UNITS = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))

# Call st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG): Streamlit's own theme would override the layout.
# Height of a chart of ratios: its axis, and each row; the samples of a row are spread over this many lines.
HEAD_PX, ROW_PX = 90, 50
# Height of a bar, and the first and last characters of a longer label.
BAR_PX, LABEL, END = 30, 18, 10
JITTER, JITTERS = 0.06, 7
# Factor by which an axis extends beyond its numbers.
MARGIN = 1.1
PLOTLY_CONFIG: dict[str, Any] = {"displayModeBar": False, "displaylogo": False, "scrollZoom": False, "responsive": True}


class _GraphObjects:
    """The module `plotly.graph_objects`, imported with the first figure, and after pandas.

    Plotly looks for pandas and NumPy in `sys.modules`. It would find incomplete modules, without their classes, if
    another thread is still importing them. Once this thread has imported pandas, both are complete.
    """

    def __getattr__(self, name: str) -> Any:
        import pandas
        from plotly import graph_objects

        return getattr(graph_objects, name)


if TYPE_CHECKING:
    from plotly import graph_objects as go
else:
    go = _GraphObjects()


def plotly_layout(theme: Theme) -> dict[str, Any]:
    """Return a chart's style, for figure.update_layout(**plotly_layout(theme))."""
    return {"template": _template(theme)}


def text_on(colour: str) -> str:
    """Return black or white, whichever has more contrast with a colour: at least 4.5:1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue))
    luminance = sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"


def blended(colour: str, paper: str, part: float) -> str:
    """Return a colour blended with its background, at opacity `part`."""
    pairs = ((int(colour[at : at + 2], 16), int(paper[at : at + 2], 16)) for at in (1, 3, 5))
    return f"#{bytes(round(part * ink + (1 - part) * under) for ink, under in pairs).hex().upper()}"


def decades(low: float, high: float, words: Callable[[float], str]) -> dict[str, Any]:
    """Return labelled ticks of a log axis between two numbers, for figure.update_xaxes(**decades(…)).

    The ticks are the powers of ten from below the smaller number to above the larger one, or finer ticks if there are
    fewer than three powers between the numbers.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    between = sum(low <= 10.0**power <= high for power in powers)
    ticks = (
        [10.0**power for power in powers] if between >= fmt.FEWEST_TICKS else fmt.log_ticks(low / MARGIN, high * MARGIN)
    )
    return {"tickvals": ticks, "ticktext": [words(tick) for tick in ticks]}


def in_unit(most_s: float) -> tuple[float, str]:
    """Return the factor and the unit of an axis of seconds whose largest value is `most_s`."""
    return next(((factor, unit) for factor, unit in UNITS if most_s * factor >= 1), UNITS[-1])


def in_brackets(label: str, unit: str, more: str = "") -> str:
    """Return the title of an axis: its label, and in brackets its unit and a remark on the values."""
    return f"{label} ({unit}){f', {more}' if more else ''}"


def median_bars(
    rows: Sequence[tuple[str, float, tuple[float, float], int]], on: Theme, height: int, doubt: str = ""
) -> go.Figure:
    """Return a chart of median seconds per call, one bar per row, quartiles as error bars.

    A row is its label, median, quartiles, and colour number. The axis has the doubt about the times.
    """
    factor, unit = in_unit(max(median_s for _, median_s, _, _ in rows))
    figure = go.Figure()
    for name, median_s, (low_s, high_s), colour in rows:
        figure.add_bar(
            orientation="h",
            name=name,
            y=[name],
            x=[median_s * factor],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [(high_s - median_s) * factor],
                "arrayminus": [(median_s - low_s) * factor],
            },
            marker={"color": kernel_colour(colour)},
            text=[fmt.duration_s(median_s)],
            textposition="inside",
            insidetextanchor="start",
            hovertemplate=f"{name}: median {fmt.duration_s(median_s)}, quartiles {fmt.duration_s(low_s)} to "
            f"{fmt.duration_s(high_s)}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=height, showlegend=False)
    figure.update_xaxes(
        title=in_brackets("time per call", unit, f"median; error bars are quartiles{doubt}"), rangemode="tozero"
    )
    return figure


def ratio_chart(ratios: Sequence[RatioBar], doubt: str, on: Theme) -> go.Figure:
    """Draw intervals on a logarithmic axis with 1 marked, and their samples as dots; right of 1 is faster.

    A ratio that supports no claim is grey; the axis has the doubt about the times.
    """
    figure = go.Figure()
    for row, ratio in enumerate(reversed(ratios)):
        colour, hover = kernel_colour(0) if ratio.claim else INK[on], f"{ratio.name}: {ratio.words}<extra></extra>"
        apart = [row - JITTER * (place % JITTERS + 1) for place in range(len(ratio.samples))]
        dots = {"color": colour, "size": 5, "opacity": 0.35}
        if ratio.samples:
            words = [*map(fmt.ratio, ratio.samples)]
            text = "%{customdata}<extra></extra>"
            figure.add_scatter(
                x=ratio.samples, y=apart, mode="markers", marker=dots, customdata=words, hovertemplate=text
            )
        figure.add_scatter(
            x=[ratio.middle],
            y=[row],
            mode="markers",
            marker={"color": colour, "size": 10 if ratio.claim else 7},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [ratio.high - ratio.middle],
                "arrayminus": [ratio.middle - ratio.low],
                "color": colour,
                "thickness": 3 if ratio.claim else 1.5,
            },
            hovertemplate=hover,
        )
    figure.add_vline(x=1, line={"color": INK[on], "dash": "dot", "width": 1.5})
    figure.add_vrect(x0=1 / 1.02, x1=1.02, fillcolor=GRID[on], opacity=0.6, line_width=0, layer="below")
    figure.update_layout(**plotly_layout(on), height=HEAD_PX + ROW_PX * len(ratios), showlegend=False)
    bounds = [bound for ratio in ratios for bound in (ratio.low, ratio.high, *ratio.samples)]
    low, high = min(1.0, *bounds) / MARGIN, max(1.0, *bounds) * MARGIN
    ticks = fmt.log_ticks(low, high)
    words = [fmt.ratio_tick(tick) for tick in ticks]
    figure.update_xaxes(
        title=f"times faster, log; 1× is no difference{doubt}",
        type="log",
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=words,
        zeroline=False,
    )
    names = [ratio.name for ratio in reversed(ratios)]
    figure.update_yaxes(tickvals=[*range(len(names))], ticktext=names, range=[-0.6, len(names) - 0.6], zeroline=False)
    return figure


def bars_chart(bars: Bars, on: Theme) -> go.Figure:
    """Draw a bar chart of blocks: the bars from the top, each with its value as text."""
    rows = bars.rows[::-1]
    figure = go.Figure()
    figure.add_bar(
        orientation="h",
        x=[bar.share for bar in rows],
        y=[*range(len(rows))],
        marker={"color": kernel_colour(0)},
        text=[bar.text for bar in rows],
        textposition="auto",
        hovertemplate="%{customdata}<extra></extra>",
        customdata=[f"{bar.label}: {bar.text}" for bar in rows],
    )
    figure.update_layout(**plotly_layout(on), height=HEAD_PX + BAR_PX * len(rows), showlegend=False)
    figure.update_xaxes(title=bars.label, showticklabels=False, showgrid=False, range=[0, 1.15])
    names = [bar.label if len(bar.label) <= LABEL + END else f"{bar.label[:LABEL]}…{bar.label[-END:]}" for bar in rows]
    figure.update_yaxes(tickvals=[*range(len(names))], ticktext=names, zeroline=False)
    return figure


@cache
def _template(theme: Theme) -> go.layout.Template:
    """Return the template, cached; to validate it for each figure would take thirty times as long."""
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
