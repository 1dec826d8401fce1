"""Drawing that fills the page, with a drawer on its right, which a click on the drawing opens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components.drawer.view import drawer_edge
from pages.session import url
from pages.session.url import held, hold

OFF = "off"
LEFT = "drawer-left"
TAB = "drawer-tab"


@contextmanager
def title_row() -> Iterator[DeltaGenerator]:
    """Open a row for the page's title sentence and its selection; yield the container of the sentence."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="title-row"):
        yield st.container(gap=None, key="title")


def stage() -> DeltaGenerator:
    """Return the container of a drawing, with its drawer beside it."""
    return st.container(horizontal=True, gap=None, key="stage")


def open_button(tab: str, label: str, icon: str) -> None:
    """Draw a button that opens the drawer at a tab, or closes the drawer if this tab is open."""
    opened = url.asked(url.DRAWER) == tab
    st.button(label, icon=icon, key=f"open-{tab}", on_click=_turn, args=(None if opened else tab,), width="content")


@contextmanager
def drawer(beside: DeltaGenerator, tabs: Sequence[str], selected: str | None) -> Iterator[str | None]:
    """Open the drawer of a stage: yield the tab to draw, None if the drawer is closed.

    A selection opens it at its first tab. Escape and its button close it until the next selection.
    """
    tab = _open_tab(tabs, selected)
    if tab is None:
        yield None
        return
    with beside.container(key="drawer", gap="small"):
        drawer_edge()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            hold(TAB, tab)
            st.segmented_control("Drawer", tabs, key=TAB, label_visibility="collapsed", on_change=_picked)
            st.button("", icon=":material/close:", key="drawer-close", help="Close", on_click=_close, args=(selected,))
        yield tab


def _open_tab(tabs: Sequence[str], selected: str | None) -> str | None:
    asked = url.asked(url.DRAWER)
    if asked == OFF and selected == held(LEFT, selected):
        hold(LEFT, selected)
        return None
    if asked == OFF:
        url.put(url.DRAWER, None)
    if asked in tabs:
        return asked
    return tabs[0] if selected else None


def _turn(tab: str | None) -> None:
    url.put(url.DRAWER, tab)


def _picked() -> None:
    tab = held(TAB)
    if tab:
        url.put(url.DRAWER, tab)


def _close(selected: str | None) -> None:
    hold(LEFT, selected)
    url.put(url.DRAWER, OFF if selected else None)
