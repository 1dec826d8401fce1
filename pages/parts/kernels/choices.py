"""Choices made for a target without the device: attention, and kernels that only timing could choose."""

from __future__ import annotations

import streamlit as st

from core.base import words as fmt
from core.report import Compilation
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain


def target_choices(compilation: Compilation) -> None:
    """Draw each decision with its reason, in one expander; nothing if there was none."""
    if not compilation.target_choices:
        return
    abouts = ", ".join(
        dict.fromkeys(plain(choice.about.split(" [")[0], LONGEST_NAME) for choice in compilation.target_choices)
    )
    with st.expander(f"{fmt.count(len(compilation.target_choices), 'choice')} made without the device: {abouts}"):
        st.dataframe(
            [
                {
                    "about": one_line(choice.about, LONGEST_NAME),
                    "chosen": one_line(choice.chosen, LONGEST_LINE),
                    "why": one_line(choice.reason, LONGEST_TEXT),
                    "among": one_line(", ".join(choice.among), LONGEST_TEXT),
                }
                for choice in compilation.target_choices
            ],
            hide_index=True,
        )
