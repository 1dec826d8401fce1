"""A symbol of dynamic shapes in full, and links to other compilations with symbols."""

from __future__ import annotations

import streamlit as st

from core.views.dynamic_shapes import SymbolsView
from pages import menu
from pages.session import url


def symbol_details(symbols: SymbolsView, name: str | None) -> None:
    """Draw one symbol in full: its origin, the needs of tracing, the checks at every call, and its specializations."""
    details = symbols.details(name)
    st.markdown(details.heading)
    for sentence, stack in details.constants:
        st.warning(sentence, icon=":material/lock:")
        _stack(symbols, stack)
    st.caption("Where it came from")
    _stack(symbols, details.origin)
    if details.needs:
        st.caption(details.needs_label)
    for need in details.needs:
        st.markdown(need)
    if details.checks:
        st.caption("What is checked of it before its code is used")
        st.code(details.checks, language="python")


def _stack(symbols: SymbolsView, stack: str) -> None:
    if stack:
        st.code(stack, language=None)
    else:
        st.markdown(symbols.no_line)


def compilations_with_symbols(symbols: SymbolsView) -> None:
    """Draw links to the run's compilations that have symbols, if the shown one has none."""
    for compile_id, label in symbols.with_symbols.items():
        st.page_link(
            menu.DYNAMIC_SHAPES.script,
            label=label,
            icon=menu.DYNAMIC_SHAPES.icon,
            query_params=url.link(**{url.COMPILATION: compile_id}),
            width="content",
        )
    if symbols.more_with_symbols:
        st.caption(symbols.more_with_symbols)
