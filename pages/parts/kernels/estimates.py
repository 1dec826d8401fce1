"""Torch's estimates for the ops of a compilation, and its collectives in order."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views.kernels import KernelsView
from pages.session.shown import View
from pages.session.tables import in_words

FORMS = {"estimate": fmt.duration_s}


def estimates_of_torch(view: View, kernels: KernelsView) -> None:
    """Draw the estimates and the collectives, folded; nothing if torch logged neither."""
    estimates = kernels.estimates(view.text)
    if not estimates.title:
        return
    with st.expander(estimates.title):
        st.caption(estimates.help)
        if estimates.rows:
            st.dataframe(in_words(pd.DataFrame(estimates.rows), FORMS), hide_index=True)
        if estimates.collectives:
            st.code("\n".join(estimates.collectives), language=None)
