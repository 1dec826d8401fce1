"""Guards by family, the check time that filters would save, and one guard in full."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.views.guards import GuardDetails, GuardsView

SHARE = st.column_config.ProgressColumn(
    # The bar's own format has two decimals; this one has three digits, as every number has.
    format="%.3g %%",
    min_value=0,
    max_value=100,
    width=120,
    help="Of one check of a copy of the tree, with the way to the values",
)
WIDE = {
    "value": st.column_config.TextColumn(width=280),
    "recompiles": st.column_config.TextColumn(help="The compilations that were made because it failed"),
    "protects": st.column_config.TextColumn(width=280),
}
# So many rows fit without scrolling.
FEW = 14


def guard_details(details: GuardDetails) -> None:
    """Draw one guard in full."""
    st.markdown(details.heading)
    st.code(details.expression, language="python", wrap_lines=True)
    if details.reason:
        st.markdown(details.reason)
    if details.hint:
        st.caption(details.hint)
    if details.failures:
        st.markdown(details.failures)


def guard_filters(guards: GuardsView) -> None:
    """Draw how much check time torch's own guard filters would save, measured on copies of the tree."""
    if guards.filter_rows:
        st.dataframe(pd.DataFrame(guards.filter_rows), hide_index=True)
    if guards.filter_code:
        st.code(guards.filter_code, language="python", wrap_lines=True)
    st.caption(guards.filter_note)
