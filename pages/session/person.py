"""The person who has signed in, in the header, with a button to sign out."""

from __future__ import annotations

import streamlit as st

from pages.gate.people import role_of
from pages.gate.visitor import who
from pages.look.text import LONGEST_NAME, plain


def account() -> None:
    """Draw who has signed in, and their role, behind a symbol; nothing where nobody signs in."""
    visitor = who()
    if not visitor.is_person:
        return
    with st.popover("Account", icon=":material/account_circle:", type="tertiary", width="content"):
        st.write(plain(visitor.name, LONGEST_NAME))
        st.caption(f"Role: {role_of(visitor.kind)}")
        st.button("Sign out", icon=":material/logout:", on_click=st.logout)
