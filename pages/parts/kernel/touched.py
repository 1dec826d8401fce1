"""The tensor elements that one program of a Triton kernel touches, drawn."""

from __future__ import annotations

from math import prod

import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.runs.tools import InterpretAnswer, Touched
from pages.look.charts import PLOTLY_CONFIG, plotly_layout
from pages.look.palette import ACCENT, GRID, INK, MUTED, Theme
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_TEXT, code, plain
from pages.session.figures import theme

CELLS = 192
WRAP = 64
KINDS = ("untouched", "loaded", "stored", "loaded and stored")


def touched_view(answer: InterpretAnswer, key: str) -> None:
    """Draw the verdict, then one picture for each tensor."""
    place = ", ".join(map(str, answer.program[: max(1, len(answer.grid))]))
    grid = " × ".join(map(str, answer.grid))
    st.caption(f"{code(answer.kernel)} in Triton's interpreter on the CPU: program {place} of a grid of {grid}.")
    if answer.same is not None:
        show = st.success if answer.same else st.error
        show(plain(answer.words, LONGEST_TEXT), icon=":material/check:" if answer.same else ":material/close:")
    else:
        st.info(plain(answer.words, LONGEST_TEXT))
    columns = st.columns(2, gap="medium")
    for index, tensor in enumerate(answer.tensors):
        with columns[index % 2]:
            st.markdown(f"{code(tensor.name)} {code(shape_words(tensor))}: {touch_words(tensor)}")
            figure = touched_chart(tensor, theme())
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"{key}-{index}")
    if answer.output.strip():
        with st.expander("What the script printed"):
            st.code(answer.output, language=None, height=SHORT)


def shape_words(tensor: Touched) -> str:
    """Return the tensor's dtype and shape in torch's notation."""
    return f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"


def touch_words(tensor: Touched) -> str:
    """Return how many of the tensor's elements were loaded and stored."""
    loads, stores = fmt.count(tensor.loads, "load"), fmt.count(tensor.stores, "store")
    parts = [loads] * bool(tensor.loads) + [stores] * bool(tensor.stores)
    return " and ".join(parts) or "untouched"


def cells(tensor: Touched) -> list[list[int]]:
    """Return the tensor as rows of cells, each 0 to 3 as in KINDS; elements share a cell if there are too many."""
    rows, columns = _plane(tensor.shape)
    down, across = -(-rows // CELLS), -(-columns // CELLS)
    table = [[0] * -(-columns // across) for _ in range(-(-rows // down))]
    for offsets, bit in ((tensor.loaded, 1), (tensor.stored, 2)):
        for offset in offsets:
            row, column = divmod(_index(offset, tensor), columns)
            if 0 <= row < rows:
                table[row // down][column // across] |= bit
    return table


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns to draw: the last dimension across, a single dimension wrapped."""
    if len(shape) < 2:
        size = prod(shape)
        return -(-size // WRAP) or 1, min(WRAP, max(1, size))
    return max(1, prod(shape[:-1])), max(1, shape[-1])


def _index(offset: int, tensor: Touched) -> int:
    """Return the logical index of an offset into the storage; -1 for an offset between the elements."""
    left, coordinates = offset, [0] * len(tensor.shape)
    for axis in sorted(range(len(tensor.shape)), key=lambda axis: -tensor.stride[axis]):
        if tensor.stride[axis]:
            coordinates[axis], left = divmod(left, tensor.stride[axis])
    if left or any(not 0 <= at < size for at, size in zip(coordinates, tensor.shape, strict=True)):
        return -1
    index = 0
    for at, size in zip(coordinates, tensor.shape, strict=True):
        index = index * size + at
    return index


def touched_chart(tensor: Touched, on: Theme) -> go.Figure:
    """Draw a heat map of the tensor's elements."""
    table = cells(tensor)
    colours = (GRID[on], ACCENT[on], INK[on], MUTED[on])
    scale = [[at, colour] for index, colour in enumerate(colours) for at in (index / 4, (index + 1) / 4)]
    figure = go.Figure(
        go.Heatmap(
            z=table,
            zmin=-0.5,
            zmax=3.5,
            colorscale=scale,
            hovertemplate="row %{y}, column %{x}<extra></extra>",
            xgap=1 if len(table[0]) <= WRAP else 0,
            ygap=1 if len(table) <= WRAP else 0,
            colorbar={"tickvals": [0, 1, 2, 3], "ticktext": list(KINDS), "thickness": 8},
        )
    )
    figure.update_layout(**plotly_layout(on), height=max(160, min(360, 60 + 6 * len(table))))
    figure.update_yaxes(autorange="reversed", title="rows" if len(tensor.shape) > 1 else f"wrapped after {WRAP}")
    figure.update_xaxes(title="last dimension" if len(tensor.shape) > 1 else "elements")
    return figure
