"""Kernel ledger of a compilation: table, search, treemap, roofline, and the compiled call as a bar."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from core.base import words as fmt
from core.views import kernels as views
from core.views.colours import kernel_colours
from pages.look.charts import PLOTLY_CONFIG, blended, decades, go, plotly_layout, text_on
from pages.look.palette import ACCENT, INK, MAX_LINE_CHARS, MUTED, PAPER, Theme
from pages.look.text import LONGEST_NAME, one_line
from pages.session import url
from pages.session.server import cached, cached_figure, theme
from pages.session.shown import View
from pages.session.tables import framed, picked_by_url, picked_points

ROOFLINE = "roofline"
UNKNOWN = "–"
# A table with fewer rows than this has no scrolling: its height is the height of its rows.
FEW = 9
# Opacity of the muted colour for the call's other parts, innermost first.
FADED = (0.9, 0.65, 0.45, 0.28)
BAR = "display:flex;height:20px;border-radius:3px;overflow:hidden"
KEYS = "display:flex;flex-wrap:wrap;gap:2px 16px;padding-top:5px;font-size:0.875rem;font-variant-numeric:tabular-nums"
MARK = "display:inline-block;width:10px;height:10px;margin-right:6px;border-radius:2px"
DASHES = ("solid", "dash", "dot", "dashdot")
# Sizes in pixels for placing labels, for the narrowest chart.
NARROW, LETTER, LINE, GAP = (300.0, 270.0), 6.0, 13.0, 8.0
LONGEST_POINT = 38  #: characters of a kernel's name in the roofline


@cached()
def _kernels(run_id: str, log_bytes: int, compile_id: str, _view: View) -> views.KernelsView:
    return views.KernelsView.load(_view.report, _view.compilation, _view.text)


def kernels_of(view: View) -> views.KernelsView:
    """Return the kernels of the compilation, with facts from the sources of its C++ kernels."""
    return _kernels(view.run.id, view.report.log_bytes, view.compilation.id, view)


def _take_point(key: str) -> None:
    """Callback of a chart: write the picked kernel to the URL."""
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{str(point['customdata'][0]).rpartition('@')[0]}")


def launches(view: View, kernels: views.KernelsView) -> None:
    """Draw the fields, the chosen chart and the table of the matching kernel calls."""
    with st.container(horizontal=True, vertical_alignment="center"):
        shape = picture(kernels)
        rows = filtered(kernels)
    left, right = st.columns(2, gap="medium")
    with left:
        chart(view, kernels, rows, shape, kernels.kernel((url.selected() or "").removeprefix("k:")).id)
    with right:
        ledger_table(kernels, rows)


def filtered(kernels: views.KernelsView) -> tuple[views.LedgerRow, ...]:
    """Draw the search field and the choice of kinds; return the rows that match both."""
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search",
            key="kernel-search",
            placeholder="name, op, module",
            max_chars=MAX_LINE_CHARS,
            label_visibility="collapsed",
            width=220,
        )
        kinds = st.pills(
            "Kind", kernels.kinds, selection_mode="multi", key="kernel-kinds", label_visibility="collapsed"
        )
    return kernels.matches(text, kinds)


def picture(kernels: views.KernelsView) -> str | None:
    """Let the visitor choose a chart that the rows have data for; None if the visitor deselects it."""
    names = kernels.pictures
    return st.segmented_control(
        "Picture", names, default=names[0], key=f"view-{kernels.compilation.id}", label_visibility="collapsed"
    )


def chart(
    view: View, kernels: views.KernelsView, rows: Sequence[views.LedgerRow], shape: str | None, selected: str
) -> None:
    """Draw the chosen chart; no other chart is computed."""
    colours, on, compile_id = kernel_colours(view.report), theme(), view.compilation.id
    if shape is None:
        return

    def make() -> go.Figure:
        if shape == ROOFLINE:
            return roofline_chart(kernels, rows, colours, selected, on)
        return treemap(kernels.areas(shape, rows), colours, selected, on)

    ids = ",".join(row.id for row in rows)
    figure = cached_figure(make, "kernels", view.run.id, view.report.log_bytes, compile_id, shape, selected, on, ids)
    key = f"chart-{compile_id}-{shape}"
    st.plotly_chart(
        figure,
        theme=None,
        config=PLOTLY_CONFIG,
        key=key,
        on_select=partial(_take_point, key),
        selection_mode="points",
    )


def ledger_table(kernels: views.KernelsView, rows: Sequence[views.LedgerRow]) -> None:
    """Draw the rows; a click selects a kernel in the URL."""
    table, settings = framed(kernels.ledger(rows))
    picked_by_url(
        table if rows else None,
        [f"k:{row.kernel}" for row in rows],
        f"kernels-{kernels.compilation.id}",
        column_config=settings,
        height=HEIGHT if len(rows) > FEW else "content",
        placeholder=UNKNOWN,
    )


def call_bar(kernels: views.KernelsView, on: Theme) -> str:
    """Return the bar and its parts with their seconds as HTML; a tooltip describes each part."""
    parts = kernels.call_parts
    whole_s = sum(part.seconds for part in parts) or 1.0
    names = [html.escape(f"{part.name} {fmt.duration_s(part.seconds)}") for part in parts]
    bars, keys = [], []
    for index, (part, name) in enumerate(zip(parts, names, strict=True)):
        share, colour = part.seconds / whole_s, _colour(index, on)
        width = round(100 * share, 3)
        words = html.escape(f"{fmt.percent(share)}: {part.words}")
        bars.append(f'<div title="{name}, {words}" style="width:{width}%;background:{colour}"></div>')
        keys.append(f'<span title="{words}"><i style="{MARK};background:{colour}"></i>{name}</span>')
    bar = f'<div role="img" aria-label="{", ".join(names)}" style="{BAR}">{"".join(bars)}</div>'
    return f'{bar}<div style="{KEYS}">{"".join(keys)}</div>'


def _colour(index: int, on: Theme) -> str:
    return ACCENT[on] if index == 0 else blended(MUTED[on], PAPER[on], FADED[min(index, len(FADED)) - 1])


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
    """Bounds of both logarithmic axes, as powers of ten."""

    left: float
    right: float
    bottom: float
    top: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return a point's position in pixels, for the smallest width of the chart."""
        across = (math.log10(x) - self.left) / (self.right - self.left)
        down = (self.top - math.log10(y)) / (self.top - self.bottom)
        return across * NARROW[0], down * NARROW[1]


def roofline_chart(
    kernels: views.KernelsView, rows: Sequence[views.LedgerRow], colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Draw kernels by arithmetic intensity and FLOP/s under the device's ceilings, both axes logarithmic.

    The legend names the ceilings. Kernels get a label if there is room, kernels with the most time first. The figure is
    empty without ceilings.
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


def point_names(rows: Sequence[views.LedgerRow], scale: Scale) -> dict[str, tuple[str, float, float]]:
    """Return row id → label, and the label's offset from the point in pixels, to the right and up.

    A label is omitted if it is too long, or would overlap another label or a point. Rows with the most time get
    their labels first.
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
    figure: go.Figure, kernels: views.KernelsView, row: views.LedgerRow, colour: str, selected: bool, on: Theme
) -> None:
    """Add a kernel call's marker: hollow for estimated FLOPs, a diamond for an estimated time."""
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


def _add_name(figure: go.Figure, row: views.LedgerRow, text: str, right: float, up: float, on: Theme) -> None:
    # On a logarithmic axis, Plotly expects an annotation's position as a logarithm.
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


HEIGHT = 380
MOST_CELLS = 120  #: limit: kernels in a treemap
USUAL_WIDTH, CELL_LETTER, CELL_LINE, FEWEST_LETTERS = 450, 6.6, 16, 4
ASPECT = 1.7


class Cell(NamedTuple):
    """A rectangle of the treemap."""

    x: float
    y: float
    width: float
    height: float


def treemap(
    areas: Sequence[tuple[views.LedgerRow, float, str]], colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Draw a treemap of kernel calls, with area by size.

    The cells are bars, since Streamlit reports clicks only on bars. `areas` are the calls, each with its size as
    a number and as text, largest first. Only the first `MOST_CELLS` calls are drawn.
    """
    areas = areas[:MOST_CELLS]
    cells = squarified([size for _, size, _ in areas], ASPECT, 1.0)
    whole = sum(size for _, size, _ in areas)
    figure = go.Figure()
    figure.add_bar(
        x=[cell.x + cell.width / 2 for cell in cells],
        base=[cell.y for cell in cells],
        y=[cell.height for cell in cells],
        width=[cell.width for cell in cells],
        customdata=[[row.id, hover_name(row), words, fmt.percent(size / whole)] for row, size, words in areas],
        text=[cell_text(row, words, cell) for (row, _, words), cell in zip(areas, cells, strict=True)],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="inside",
        hovertemplate="%{customdata[1]}<br>%{customdata[2]}, %{customdata[3]}<extra></extra>",
        insidetextfont={"color": [text_on(colours.get(row.kernel, MUTED[on])) for row, _, _ in areas]},
        marker={
            "color": [colours.get(row.kernel, MUTED[on]) for row, _, _ in areas],
            "line": {
                "color": [INK[on] if row.kernel == selected else PAPER[on] for row, _, _ in areas],
                "width": [3 if row.kernel == selected else 1.5 for row, _, _ in areas],
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


def cell_text(row: views.LedgerRow, size: str, cell: Cell) -> str:
    """Return the text that fits into a cell: innermost modules, ops and size; empty for a small cell.

    The chart is assumed to have its usual width, `USUAL_WIDTH` pixels.
    """
    letters, lines = int(cell.width / ASPECT * USUAL_WIDTH / CELL_LETTER) - 1, int(cell.height * HEIGHT / CELL_LINE)
    module, _, ops = one_line(row.label, LONGEST_NAME).rpartition(" · ")
    if letters < FEWEST_LETTERS or not lines:
        return ""
    parts = [ops if len(ops) <= letters else f"{ops[: letters - 1]}…"]
    if lines > 1 and len(size) <= letters:
        parts.append(size)
    if lines > len(parts) and module:
        parts.insert(0, _end_of(module, letters))
    return "<br>".join(map(html.escape, parts))


def _end_of(module: str, letters: int) -> str:
    """Return the innermost modules of a path that fit, `…0.mlp` for `layers.0.mlp`; at least one."""
    end = module
    while len(end) >= letters and "." in end:
        end = end.partition(".")[2]
    return end if end == module else f"…{end}"


def squarified(sizes: Sequence[float], width: float, height: float) -> list[Cell]:
    """Divide a rectangle into cells of these sizes, as square as possible; the largest size comes first.

    Bruls, Huizing and van Wijk, "Squarified treemaps" (2000).
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
    """Return the worst aspect ratio of cells with these areas in one row along an edge of length `side`."""
    whole = sum(areas)
    return max(side**2 * areas[0] / whole**2, whole**2 / (side**2 * areas[-1])) if whole and areas[-1] else float("inf")


def label_of(row: views.LedgerRow) -> str:
    """Return the row's label as HTML-escaped text, since Plotly interprets some HTML."""
    return html.escape(one_line(row.label, LONGEST_NAME))


def hover_name(row: views.LedgerRow) -> str:
    """Return two lines: the row's label, and torch's name of the kernel."""
    return f"<b>{label_of(row)}</b><br>{html.escape(one_line(row.name, LONGEST_NAME))}"
