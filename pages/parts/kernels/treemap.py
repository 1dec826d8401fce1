"""The treemap of the kernel ledger: kernel time or memory traffic by kernel."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from core.base import words as fmt
from core.views.kernels import LedgerRow
from pages.look.charts import plotly_layout, text_on
from pages.look.palette import INK, MUTED, PAPER, Theme
from pages.look.text import LONGEST_NAME, one_line

HEIGHT = 380
MOST_CELLS = 120
USUAL_WIDTH, LETTER, LINE, FEWEST_LETTERS = 450, 6.6, 16, 4
ASPECT = 1.7


class Cell(NamedTuple):
    """A rectangle of the treemap."""

    x: float
    y: float
    width: float
    height: float


def treemap(
    areas: Sequence[tuple[LedgerRow, float, str]], colours: Mapping[str, str], selected: str, on: Theme
) -> go.Figure:
    """Draw kernel calls as cells with area by size. The cells are bars, since Streamlit reports clicks only on bars.

    `areas` are the calls with their size as a number and as text, largest first.
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


def cell_text(row: LedgerRow, size: str, cell: Cell) -> str:
    """Return the text that fits into a cell at the usual width: the innermost modules, the ops, and the size."""
    letters, lines = int(cell.width / ASPECT * USUAL_WIDTH / LETTER) - 1, int(cell.height * HEIGHT / LINE)
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
    """Divide a rectangle into cells of the given sizes, as square as possible.

    Bruls, Huizing and van Wijk, "Squarified treemaps" (2000); the sizes come largest first.
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
    """Return the largest ratio of sides in a row of cells along a side."""
    whole = sum(areas)
    return max(side**2 * areas[0] / whole**2, whole**2 / (side**2 * areas[-1])) if whole and areas[-1] else float("inf")


def label_of(row: LedgerRow) -> str:
    """Return the row's label as HTML-escaped text, since Plotly interprets some HTML."""
    return html.escape(one_line(row.label, LONGEST_NAME))


def hover_name(row: LedgerRow) -> str:
    """Return the row's label, and torch's name of the kernel below it."""
    return f"<b>{label_of(row)}</b><br>{html.escape(one_line(row.name, LONGEST_NAME))}"
