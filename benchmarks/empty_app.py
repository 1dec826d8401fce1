"""Two pages of Streamlit with a title each: what a page switch takes that has nothing to do."""

import streamlit as st


def first() -> None:
    """Draw the first page."""
    st.title("First")


def second() -> None:
    """The other."""
    st.title("Second")


st.navigation([st.Page(first, title="First"), st.Page(second, title="Second")]).run()
