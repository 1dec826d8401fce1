"""Kernels of two compilations: a table of pairs, and the chosen pair with both sources."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.base import words as fmt
from core.views.kernel_pairs import KernelPairsView, PairOfKernels
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import TALL
from pages.parts.code import diff_view
from pages.parts.compare.aspects import MARK
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.tables import picked_by_url

LANGUAGES = {"cpp": "cpp", "triton": "python"}
COLUMNS: dict[str, Any] = {
    "kernel": st.column_config.TextColumn(width=290),
    "config": st.column_config.TextColumn(width="medium", help="Several where only timing on the device could choose"),
    "registers": st.column_config.TextColumn(help="A thread's"),
    "shared memory": st.column_config.TextColumn(help="A block's"),
    "occupancy": st.column_config.TextColumn(help="Theoretical"),
    "left time": st.column_config.Column(help="Measured, or estimated, as the caption says"),
    "right time": st.column_config.Column(help="Measured, or estimated, as the caption says"),
    "generated name": st.column_config.TextColumn(width="medium", help="What torch calls it"),
}


def kernel_pairs(kernels: KernelPairsView, key: str) -> None:
    """Draw the table of all pairs, and the chosen pair in full."""
    if not kernels.pairs:
        st.write("Neither compilation has a kernel.")
        return
    st.caption(kernels.times)
    ids = list(kernels.pairs)
    height = "content" if len(ids) < 12 else TALL
    picked_by_url(table(kernels), ids, key, column_config=COLUMNS, height=height, placeholder=KernelPairsView.unknown)
    pair = kernels.chosen(url.selected())
    url.select(pair.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(pair.title)
        json_twin("comparison", kernels.comparison, key="targets")
    details = pd.DataFrame(pair.rows).style.map(
        lambda value: MARK if value == KernelPairsView.unlike else "", subset=[KernelPairsView.unlike]
    )
    st.dataframe(details, hide_index=True, height="content", key=f"{key}-pair-{ids.index(pair.id)}")
    sources(pair, f"{key}-{pair.id}")


def table(kernels: KernelPairsView) -> Styler:
    """Return the table with one row per pair.

    Cells that differ contain ≠ and are tinted. Empty columns are left out.
    """
    frame = pd.DataFrame([pair.row for pair in kernels.pairs.values()])
    frame = frame.drop(columns=[name for name in frame if not frame[name].map(_has_text).any()])
    tinted = frame.style.map(lambda value: MARK if isinstance(value, str) and KernelPairsView.unlike in value else "")
    return tinted.format({name: fmt.duration_s for name in ("left time", "right time") if name in frame}, na_rep="")


def _has_text(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""


def sources(pair: PairOfKernels, key: str) -> None:
    """Draw both kernels' sources: as a diff if they have the same language, else side by side."""
    if not any(source.text for source in pair.sources):
        st.caption("Extern kernels are library functions: there is no generated source to compare.")
        return
    diff = pair.diff
    if diff is None:
        _side_by_side(pair, key)
        return
    if not diff.text:
        st.success("The generated sources are identical.")
        return
    if pair.diff_note:
        st.caption(pair.diff_note)
    diff_view("difference of the generated sources", diff.text, f"{key}-diff", diff.left_out)


def _side_by_side(pair: PairOfKernels, key: str) -> None:
    """Draw two sources in different languages side by side."""
    for column, source in zip(st.columns(2, gap="medium"), pair.sources, strict=True):
        with column:
            if not source.text:
                st.caption(f"Nothing was generated on the {source.side}.")
                continue
            lines = code_lines(source.text, prefix=source.side[0])
            picture = CodePicture(source.name, LANGUAGES.get(source.language, ""), lines)
            code_view(picture, key=f"{key}-{source.side}", height=TALL, channel=f"targets-{source.side}")
