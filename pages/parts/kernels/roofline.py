"""The roofline of a compilation's kernels, as a Plotly figure with labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import plotly.graph_objects as go

from core.analysis.kernels import LedgerRow, ridge
from core.base import words as fmt
from core.report import Bandwidth, Roofline
from pages.look.charts import decades, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme
from pages.parts.kernels.ledger_charts import HEIGHT, label_of, named

# A memory level whose bandwidth is this close to the next one's is left out: measurements differ by as much.
NOISE = 1.25
DASHES = ("solid", "dash", "dot", "dashdot")
# Sizes in pixels on the narrowest chart, to place labels.
NARROW, LETTER, LINE, GAP = (300.0, 270.0), 6.0, 13.0, 8.0
LONGEST_POINT = 38


class LabelBox(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: LabelBox) -> bool:
        """Return True if the two boxes overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, other: LabelBox) -> bool:
        """Return True if the other box lies within this one."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


FRAME = LabelBox(0.0, 0.0, *NARROW)


class Scale(NamedTuple):
    """The decades of both axes."""

    left: float
    right: float
    bottom: float
    top: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point in pixels on the narrowest chart."""
        across = (math.log10(x) - self.left) / (self.right - self.left)
        down = (self.top - math.log10(y)) / (self.top - self.bottom)
        return across * NARROW[0], down * NARROW[1]


def roofline_chart(
    rows: Sequence[LedgerRow], ceilings: Roofline, colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Draw kernels by arithmetic intensity and FLOP/s under the device's ceilings, both axes logarithmic.

    The legend names the ceilings. Kernels have a label if there is room, those with the most time first.
    """
    shown = sorted((row for row in rows if row.intensity and row.flops_s), key=lambda row: -(row.share or 0.0))
    dtypes = sorted({row.dtype for row in shown if row.dtype in ceilings.flops_s}) or list(ceilings.flops_s)[:1]
    levels, scale = told_levels(ceilings.bandwidths), _scale(shown, ceilings, dtypes)
    figure = go.Figure()
    for index, level in enumerate(reversed(levels)):
        peak = max(ceilings.flops_s[dtype] for dtype in dtypes)
        low = 10**scale.left
        name = f"{level.level} {fmt.per_second(level.bytes_s)}"
        knee = ridge(level, peak)
        look = {"color": MUTED[on], "width": 1.75, "dash": DASHES[index % len(DASHES)]}
        _add_line(figure, ([low, knee], [low * level.bytes_s, peak]), name, look)
    for dtype in dtypes:
        peak = ceilings.flops_s[dtype]
        ends = [ridge(levels[0], peak), 10**scale.right]
        _add_line(
            figure, (ends, [peak, peak]), f"{dtype} {fmt.per_second(peak, 'FLOP')}", {"color": INK[on], "width": 3}
        )
    names = point_names(shown, scale)
    for row in shown:
        _add_kernel(figure, row, colours.get(row.kernel, MUTED[on]), row.kernel == selected, on)
        if row.id in names:
            _add_name(figure, row, *names[row.id], on)
    figure.update_layout(**plotly_layout(on), height=HEIGHT, clickmode="event+select")
    figure.update_layout(margin={"t": 44}, legend={"itemclick": False, "itemdoubleclick": False, "font": {"size": 11}})
    figure.update_xaxes(
        type="log",
        title="arithmetic intensity (FLOP/B), log",
        range=[scale.left, scale.right],
        **decades(10**scale.left, 10**scale.right, fmt.exact),
    )
    figure.update_yaxes(
        type="log",
        title="arithmetic reached, log",
        range=[scale.bottom, scale.top],
        **decades(10**scale.bottom, 10**scale.top, partial(fmt.per_second, unit="FLOP")),
    )
    return figure


def told_levels(levels: Sequence[Bandwidth]) -> list[Bandwidth]:
    """Return the memory levels to draw, nearest first.

    A level that is no faster than the next, within noise, is left out.
    """
    kept = [near for near, far in pairwise(levels) if near.bytes_s > NOISE * far.bytes_s]
    return [*kept, levels[-1]]


def point_names(rows: Sequence[LedgerRow], scale: Scale) -> dict[str, tuple[str, float, float]]:
    """Return the label of each row, with its offset to the right and up from the point, in pixels.

    Only for labels that find a place without overlap with another label or a point; rows with the most time come first.
    """
    points = {row.id: scale.place(row.intensity or 1.0, row.flops_s or 1.0) for row in rows}
    taken = [LabelBox(x - GAP, y - GAP, x + GAP, y + GAP) for x, y in points.values()]
    found: dict[str, tuple[str, float, float]] = {}
    for row in rows:
        text = label_of(row)
        x, y = points[row.id]
        half = len(text) * LETTER / 2
        asides = ((0.0, GAP + LINE / 2), (0.0, -GAP - LINE / 2), (half + GAP, 0.0), (-half - GAP, 0.0))
        for right, up in asides if len(text) <= LONGEST_POINT else ():
            box = LabelBox(x + right - half, y - up - LINE / 2, x + right + half, y - up + LINE / 2)
            if FRAME.holds(box) and not any(box.meets(other) for other in taken):
                found[row.id] = (text, right, up)
                taken.append(box)
                break
    return found


def _scale(rows: Sequence[LedgerRow], ceilings: Roofline, dtypes: Sequence[str]) -> Scale:
    """Return axes that contain every kernel and the knee of every ceiling."""
    peak = max(ceilings.flops_s[dtype] for dtype in dtypes)
    knees = [ridge(level, peak) for level in ceilings.bandwidths]
    across = [row.intensity for row in rows if row.intensity] + knees
    up = [row.flops_s for row in rows if row.flops_s] + [peak]
    return Scale(
        math.log10(min(across)) - 0.5,
        math.log10(max(across)) + 0.5,
        math.log10(min(up)) - 0.4,
        math.log10(max(up)) + 0.6,
    )


def _add_line(figure: go.Figure, ends: tuple[list[float], list[float]], name: str, look: dict[str, Any]) -> None:
    figure.add_scatter(
        x=ends[0],
        y=ends[1],
        mode="lines",
        name=name,
        line=look,
        hovertemplate=f"{name}<extra></extra>",
    )


def _add_kernel(figure: go.Figure, row: LedgerRow, colour: str, selected: bool, on: Theme) -> None:
    """Add one kernel call; hollow if its FLOPs are counted by op and iteration, a diamond if its time is estimated."""
    shape = "circle" if row.measured else "diamond"
    figure.add_scatter(
        x=[row.intensity],
        y=[row.flops_s],
        mode="markers",
        showlegend=False,
        customdata=[[row.id, named(row), _hover(row)]],
        marker={
            "color": colour,
            "size": 9 + 22 * (row.share or 0.0) ** 0.5,
            "symbol": f"{shape}-open" if row.flops_estimated else shape,
            "line": {"color": INK[on] if selected else colour, "width": 3 if selected else 1.5},
        },
        unselected={"marker": {"opacity": 1}},
        hovertemplate="%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )


def _add_name(figure: go.Figure, row: LedgerRow, text: str, right: float, up: float, on: Theme) -> None:
    # On a logarithmic axis plotly places an annotation by the logarithm.
    figure.add_annotation(
        x=math.log10(row.intensity or 1.0),
        y=math.log10(row.flops_s or 1.0),
        xshift=right,
        yshift=up,
        text=text,
        showarrow=False,
        bgcolor=PAPER[on],
        opacity=0.88,
        borderpad=1,
        font={"size": 10.5, "color": INK[on]},
    )


def _hover(row: LedgerRow) -> str:
    parts = [f"{fmt.duration_s(row.time_s)} {row.timed}", fmt.per_second(row.flops_s, "FLOP")]
    parts += [fmt.per_second(row.bandwidth_bytes_s)]
    parts += [f"{fmt.percent(row.fraction)} of the roofline"] if row.fraction is not None else []
    parts += ["faster than the ceilings: cached data, or less work than is counted"] if row.above_ceilings else []
    parts += ["FLOPs counted as one an op and iteration"] if row.flops_estimated else []
    parts += ["bytes are the most that it can move"] if row.at_most else []
    return "<br>".join(parts)
