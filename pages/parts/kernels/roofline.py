"""The roofline of a compilation's kernels, as a Plotly figure with labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import plotly.graph_objects as go

from core.base import words as fmt
from core.views.kernels import KernelsView, LedgerRow
from pages.look.charts import decades, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme
from pages.parts.kernels.treemap import HEIGHT, hover_name, label_of

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

    def overlaps(self, box: LabelBox) -> bool:
        """Return True if the two boxes overlap."""
        return self.left < box.right and box.left < self.right and self.top < box.bottom and box.top < self.bottom

    def contains(self, box: LabelBox) -> bool:
        """Return True if the box lies within this one."""
        return self.left <= box.left and box.right <= self.right and self.top <= box.top and box.bottom <= self.bottom


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
    kernels: KernelsView, rows: Sequence[LedgerRow], colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Draw kernels by arithmetic intensity and FLOP/s under the device's ceilings, both axes logarithmic.

    The legend names the ceilings. Kernels have a label if there is room, those with the most time first. Empty without
    ceilings.
    """
    figure, data = go.Figure(), kernels.roofline(rows)
    if data is None:
        return figure
    scale = Scale(*data.bounds)
    for index, (name, ends) in enumerate(data.memory.items()):
        _add_line(figure, ends, name, {"color": MUTED[on], "width": 1.75, "dash": DASHES[index % len(DASHES)]})
    for name, ends in data.compute.items():
        _add_line(figure, ends, name, {"color": INK[on], "width": 3})
    names = point_names(data.rows, scale)
    for row in data.rows:
        _add_kernel(figure, kernels, row, colours.get(row.kernel, MUTED[on]), row.kernel == selected, on)
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


def point_names(rows: Sequence[LedgerRow], scale: Scale) -> dict[str, tuple[str, float, float]]:
    """Return the label of each row, with its offset to the right and up from the point, in pixels.

    Labels that would overlap another label or a point are left out; rows with the most time come first.
    """
    points = {row.id: scale.place(row.intensity or 1.0, row.flops_s or 1.0) for row in rows}
    boxes = [LabelBox(x - GAP, y - GAP, x + GAP, y + GAP) for x, y in points.values()]
    names: dict[str, tuple[str, float, float]] = {}
    for row in rows:
        text = label_of(row)
        x, y = points[row.id]
        half = len(text) * LETTER / 2
        offsets = ((0.0, GAP + LINE / 2), (0.0, -GAP - LINE / 2), (half + GAP, 0.0), (-half - GAP, 0.0))
        for right, up in offsets if len(text) <= LONGEST_POINT else ():
            box = LabelBox(x + right - half, y - up - LINE / 2, x + right + half, y - up + LINE / 2)
            if FRAME.contains(box) and not any(map(box.overlaps, boxes)):
                names[row.id] = (text, right, up)
                boxes.append(box)
                break
    return names


def _add_line(
    figure: go.Figure, ends: tuple[tuple[float, float], tuple[float, float]], name: str, look: dict[str, Any]
) -> None:
    figure.add_scatter(
        x=[x for x, _ in ends],
        y=[y for _, y in ends],
        mode="lines",
        name=name,
        line=look,
        hovertemplate=f"{name}<extra></extra>",
    )


def _add_kernel(
    figure: go.Figure, kernels: KernelsView, row: LedgerRow, colour: str, selected: bool, on: Theme
) -> None:
    """Add one kernel call; hollow if its FLOPs are counted by op and iteration, a diamond if its time is estimated."""
    shape = "circle" if row.measured else "diamond"
    figure.add_scatter(
        x=[row.intensity],
        y=[row.flops_s],
        mode="markers",
        showlegend=False,
        customdata=[[row.id, hover_name(row), "<br>".join(kernels.point_words(row))]],
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
