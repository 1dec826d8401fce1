"""The menu and the row of panes for the shown run: counts, and a reason for what is empty."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.base import words as fmt
from pages import menu
from pages.components.menu.view import Mark, mark_menu
from pages.look.text import plain
from pages.session import url
from pages.session.contents import Content, contents, entry_content
from pages.session.shown import Shown


def draw_panes(page: str, here: Shown | None) -> None:
    """Mark the menu, and draw the row of panes of the page's entry if it has several."""
    by_page = contents(here)
    mark_menu(_marks(by_page), _entries(), key="menu")
    entry = menu.entry_of(menu.PAGES[page])
    panes = [pane for pane in entry.pages if pane in entry.panes or pane.name == page]
    if len(panes) > 1:
        with st.container(horizontal=True, gap="small", key="panes"):
            for pane in panes:
                _link(pane, by_page.get(pane.name, Content()))


def _link(pane: menu.Page, content: Content) -> None:
    title = f":gray[{pane.title}]" if content.why_empty else pane.title
    count = f" :gray[{fmt.number(content.count)}]" if content.count is not None else ""
    st.page_link(
        pane.script,
        label=title + count,
        icon="",
        help=plain(content.why_empty) or None,
        query_params=url.link(),
    )


def _marks(by_page: Mapping[str, Content]) -> dict[str, Mark]:
    marks = {}
    for entry in menu.ENTRIES:
        content = entry_content(entry, by_page)
        count = fmt.number(content.count) if content.count is not None else ""
        if count or content.why_empty:
            marks[entry.panes[0].name] = Mark(count, content.why_empty)
    return marks


def _entries() -> dict[str, str]:
    """Return the page that the entry of each other page opens."""
    return {page.name: entry.panes[0].name for entry in menu.ENTRIES for page in entry.pages[1:]}
