"""Two pages of Streamlit with only a title each: the cost of an empty page switch."""

import streamlit as st


def first() -> None:
    """Draw the first page."""
    st.title("First")


def second() -> None:
    """Draw the second page."""
    st.title("Second")


st.navigation([st.Page(first, title="First"), st.Page(second, title="Second")]).run()
