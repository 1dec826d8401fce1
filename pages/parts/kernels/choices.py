"""What was decided for a target without asking the device: attention, kernels that only timing could choose."""

from __future__ import annotations

import streamlit as st

from core import words as fmt
from core.report import Compilation
from pages.look.text import one_line, plain


def target_choices(compilation: Compilation) -> None:
    """Each decision with its reason, in one fold; nothing where there was none."""
    if not compilation.target_choices:
        return
    abouts = ", ".join(dict.fromkeys(plain(choice.about.split(" [")[0], 60) for choice in compilation.target_choices))
    with st.expander(f"{fmt.count(len(compilation.target_choices), 'choice')} made without the device: {abouts}"):
        st.dataframe(
            [
                {
                    "about": one_line(choice.about, 80),
                    "chosen": one_line(choice.chosen, 120),
                    "why": one_line(choice.reason, 300),
                    "among": one_line(", ".join(choice.among), 300),
                }
                for choice in compilation.target_choices
            ],
            hide_index=True,
        )
