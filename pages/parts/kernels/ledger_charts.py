"""Plotly figures of the kernel ledger: where the time or the traffic goes, and how near each kernel is to its
roofline.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import plotly.graph_objects as go

from core import words as fmt
from core.analysis.kernels import LedgerRow, ridge
from core.report import Roofline
from pages.look.charts import plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme
from pages.look.text import LONGEST_NAME, one_line

HEIGHT = 380
MOST_CELLS = 120
ASPECT = 1.7


class Cell(NamedTuple):
    """A rectangle of the treemap."""

    x: float
    y: float
    width: float
    height: float


def treemap(
    rows: Sequence[LedgerRow],
    size: Callable[[LedgerRow], float | None],
    words: Callable[[float, LedgerRow], str],
    colours: Mapping[str, str],
    selected: str,
    on: Theme,
) -> go.Figure:
    """Kernel calls as cells with an area by their size; drawn as bars, since only those can be clicked in Streamlit."""
    sized = sorted(((size(row) or 0.0, row) for row in rows), key=lambda pair: -pair[0])[:MOST_CELLS]
    shown = [(value, row) for value, row in sized if value > 0]
    cells = squarified([value for value, _ in shown], ASPECT, 1.0)
    whole = sum(value for value, _ in shown)
    figure = go.Figure()
    figure.add_bar(
        x=[cell.x + cell.width / 2 for cell in cells],
        base=[cell.y for cell in cells],
        y=[cell.height for cell in cells],
        width=[cell.width for cell in cells],
        customdata=[[row.id, _name(row), words(value, row), fmt.percent(value / whole)] for value, row in shown],
        text=[f"{_short(row)}<br>{words(value, row)}" for value, row in shown],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="inside",
        hovertemplate="%{customdata[1]}<br>%{customdata[2]}, %{customdata[3]}<extra></extra>",
        marker={
            "color": [colours.get(row.kernel, MUTED[on]) for _, row in shown],
            "line": {
                "color": [INK[on] if row.kernel == selected else PAPER[on] for _, row in shown],
                "width": [3 if row.kernel == selected else 1.5 for _, row in shown],
            },
        },
        unselected={"marker": {"opacity": 1}},
    )
    figure.update_layout(
        **plotly_layout(on), height=HEIGHT, showlegend=False, barcornerradius=0, clickmode="event+select"
    )
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"}, margin={"l": 0, "r": 0, "t": 8, "b": 0})
    figure.update_xaxes(visible=False, range=[0, ASPECT], fixedrange=True)
    figure.update_yaxes(visible=False, range=[1, 0], fixedrange=True)
    return figure


def squarified(sizes: Sequence[float], width: float, height: float) -> list[Cell]:
    """Cells of a rectangle, each with its part of the area, as square as can be.

    Bruls, Huizing and van Wijk, "Squarified treemaps" (2000); the sizes are given largest first.
    """
    scale = width * height / (sum(sizes) or 1.0)
    left = [size * scale for size in sizes]
    cells: list[Cell] = []
    x = y = 0.0
    while left:
        side = min(width, height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        thick = sum(left[:count]) / side if side else 0.0
        at = 0.0
        for area in left[:count]:
            length = area / thick if thick else 0.0
            cells.append(Cell(x, y + at, thick, length) if width > height else Cell(x + at, y, length, thick))
            at += length
        if width > height:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick
        left = left[count:]
    return cells


def _worst(areas: Sequence[float], side: float) -> float:
    """The largest ratio of sides in a row of cells along a side."""
    whole = sum(areas)
    return max(side**2 * areas[0] / whole**2, whole**2 / (side**2 * areas[-1])) if whole and areas[-1] else float("inf")


def roofline_chart(
    rows: Sequence[LedgerRow], ceilings: Roofline, colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Kernels by arithmetic intensity and FLOP/s under the device's ceilings, both axes logarithmic."""
    shown = [row for row in rows if row.intensity and row.flops_s]
    dtypes = sorted({row.dtype for row in shown if row.dtype in ceilings.flops_s}) or list(ceilings.flops_s)[:1]
    figure = go.Figure()
    low = min([0.05, *(row.intensity / 3 for row in shown if row.intensity)])
    high = max([200.0, *(row.intensity * 3 for row in shown if row.intensity)])
    for dtype in dtypes:
        _add_ceilings(figure, ceilings, dtype, low, high, on)
    for row in shown:
        _add_kernel(figure, row, colours.get(row.kernel, MUTED[on]), row.kernel == selected, on)
    figure.update_layout(**plotly_layout(on), height=HEIGHT, showlegend=False, clickmode="event+select")
    figure.update_xaxes(type="log", title="arithmetic intensity (FLOP/B), log", dtick=1)
    figure.update_yaxes(type="log", title="FLOP/s, log", dtick=1, tickformat="~s")
    return figure


def _add_ceilings(figure: go.Figure, ceilings: Roofline, dtype: str, low: float, high: float, on: Theme) -> None:
    """A slope for each level of memory, up to the roof of one dtype."""
    peak = ceilings.flops_s[dtype]
    nearer = [near for near, far in pairwise(ceilings.bandwidths) if near.bytes_s > 1.01 * far.bytes_s]
    for level in (*nearer, ceilings.bandwidths[-1]):
        knee = ridge(level, peak)
        label = f"{level.level} {fmt.per_second(level.bytes_s)}, {ceilings.source}"
        _add_line(figure, [low, knee], [low * level.bytes_s, peak], label, "bottom right", on)
    farthest = ridge(ceilings.bandwidths[0], peak)
    label = f"{dtype} {fmt.per_second(peak, 'FLOP')}, {ceilings.source}"
    _add_line(figure, [max(high, 4 * farthest), farthest], [peak, peak], label, "top left", on)


def _add_line(figure: go.Figure, x: list[float], y: list[float], label: str, where: str, on: Theme) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines+text",
        line={"color": MUTED[on], "width": 1.5},
        text=[label, ""],
        textposition=where,
        textfont={"size": 10, "color": MUTED[on]},
        hoverinfo="skip",
    )


def _add_kernel(figure: go.Figure, row: LedgerRow, colour: str, selected: bool, on: Theme) -> None:
    """One kernel call; hollow where its FLOPs are counted by op and iteration, a diamond where its time is an
    estimate.
    """
    shape = "circle" if row.measured else "diamond"
    figure.add_scatter(
        x=[row.intensity],
        y=[row.flops_s],
        mode="markers",
        customdata=[[row.id, _name(row), _hover(row)]],
        marker={
            "color": colour,
            "size": 9 + 22 * (row.share or 0.0) ** 0.5,
            "symbol": f"{shape}-open" if row.flops_estimated else shape,
            "line": {"color": INK[on] if selected else colour, "width": 3 if selected else 1.5},
        },
        unselected={"marker": {"opacity": 1}},
        hovertemplate="%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )


def _name(row: LedgerRow) -> str:
    """The name as text: plotly reads some HTML."""
    return html.escape(one_line(row.name, LONGEST_NAME))


def _short(row: LedgerRow) -> str:
    """What fits a cell: the kernel without its library's prefix, and for an extern kernel the module that it is for."""
    name = row.name.removesuffix(".default").rsplit(".", 1)[-1].lstrip("_")
    module = row.modules[0].path.rsplit(".", 1)[-1] if row.modules and row.language == "extern" else ""
    return html.escape(one_line(f"{name} · {module}" if module else name, LONGEST_NAME))


def _hover(row: LedgerRow) -> str:
    parts = [f"{fmt.duration_s(row.time_s)} {row.timed}", fmt.per_second(row.flops_s, "FLOP")]
    parts += [fmt.per_second(row.bandwidth_bytes_s)]
    parts += [f"{fmt.percent(row.fraction)} of the roofline"] if row.fraction is not None else []
    parts += ["FLOPs counted as one an op and iteration"] if row.flops_estimated else []
    parts += ["bytes are the most that it can move"] if row.at_most else []
    return "<br>".join(parts)
