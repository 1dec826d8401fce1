"""The kernels of two compilations: a table of pairs, the chosen pair, and both its sources."""

from __future__ import annotations

import streamlit as st

from core.analysis.kernels import Comparison, KernelPair, KernelSide, Side, compare, side_of
from core.base import words as fmt
from core.code import diff_texts
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, code, plain
from pages.parts.code import diff_view
from pages.parts.compare.kernel_table import COLUMNS, UNKNOWN, details, table
from pages.session import url
from pages.session.cache import cached
from pages.session.downloads import json_twin
from pages.session.tables import picked_by_url
from pages.session.view import View

LANGUAGES = {"cpp": "cpp", "triton": "python"}


@cached("Comparing")
def _compared(ids: tuple[str, ...], _left: View, _right: View) -> tuple[Comparison, Side, Side]:
    left, right = (side_of(view.report, view.compilation, view.text) for view in (_left, _right))
    return compare(left, right), left, right


def compared(left: View, right: View) -> tuple[Comparison, Side, Side]:
    """Return the comparison of two compilations, with the sources of both."""
    ids = (left.run.id, str(left.report.log_bytes), left.compilation.id, right.run.id, right.compilation.id)
    return _compared(ids, left, right)


def kernel_pairs(left: View, right: View, height: int = TALL) -> None:
    """Draw the table of all pairs, and the chosen pair in full."""
    comparison, one, other = compared(left, right)
    pairs = comparison.pairs
    said = (
        time_words(name, [kernel for pair in pairs if (kernel := getattr(pair, name.lower())) is not None])
        for name in ("Left", "Right")
    )
    st.caption(f"{'; '.join(said)}. Cells with ≠ differ; – is not known.")
    key = f"targets-{left.compilation.id}-{right.run.id}"
    ids, most = [pair_id(pair) for pair in pairs], "content" if len(pairs) < 12 else height
    picked_by_url(table(pairs), ids, key, column_config=COLUMNS, height=most, placeholder=UNKNOWN)
    pair = chosen_pair(pairs)
    url.select(pair_id(pair))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(pair.either.label, LONGEST_LINE)}** {code(pair.either.name)}")
        json_twin("comparison", comparison, key="targets")
    st.dataframe(details(pair), hide_index=True, height="content", key=f"{key}-pair-{pairs.index(pair)}")
    sources(pair, one, other, f"{key}-{pair_id(pair)}")


def time_words(name: str, sides: list[KernelSide]) -> str:
    """Describe whether the times of one side are measured or estimated, and their sum."""
    timed = [side for side in sides if side.time_s is not None]
    if not timed:
        return f"{name}: no kernel has a time"
    estimated = any(side.timed == "estimated" for side in timed)
    total = fmt.duration_s(sum(side.time_s or 0.0 for side in timed))
    missing = f", {fmt.number(len(sides) - len(timed))} without a time" if len(timed) < len(sides) else ""
    return f"{name}: {total} in all kernels, {'estimated by its roofline' if estimated else 'measured'}{missing}"


def pair_id(pair: KernelPair) -> str:
    """Return the id of a pair for the URL: `k` and its left kernel, or `r` and the right one if it has no left one."""
    return f"{'k' if pair.left else 'r'}:{pair.either.kernel}"


def chosen_pair(pairs: tuple[KernelPair, ...]) -> KernelPair:
    """Return the pair that the URL selects, else the first that differs."""
    by_id = {pair_id(pair): pair for pair in pairs}
    return by_id.get(url.selected() or "") or next((pair for pair in pairs if pair.differs), pairs[0])


def sources(pair: KernelPair, left: Side, right: Side, key: str) -> None:
    """Draw both kernels' sources: as a diff if they have the same language, else side by side."""
    texts = [
        side.code.get(kernel.kernel, "") if kernel else "" for side, kernel in ((left, pair.left), (right, pair.right))
    ]
    if not any(texts):
        st.caption("Extern kernels are library functions: there is no generated source to compare.")
        return
    if pair.left is None or pair.right is None or pair.left.language != pair.right.language:
        _side_by_side(pair, texts, key)
        return
    diff = diff_texts(texts[0], texts[1], f"{pair.left.name}, left", f"{pair.right.name}, right")
    if not diff.text:
        st.success("The generated sources are the same, to the letter.")
        return
    if pair.same_text:
        st.caption("The function is the same text; what differs are names, hints, and the device's properties.")
    diff_view("difference of the generated sources", diff.text, f"{key}-diff", diff.left_out)


def _side_by_side(pair: KernelPair, texts: list[str], key: str) -> None:
    """Draw two sources side by side, for which a diff would be useless."""
    for column, kernel, text, name in zip(
        st.columns(2, gap="medium"), (pair.left, pair.right), texts, ("left", "right"), strict=True
    ):
        with column:
            if kernel is None or not text:
                st.caption(f"Nothing was generated on the {name}.")
                continue
            picture = CodePicture(kernel.name, LANGUAGES.get(kernel.language, ""), code_lines(text, prefix=name[0]))
            code_view(picture, key=f"{key}-{name}", height=TALL, channel=f"targets-{name}")
