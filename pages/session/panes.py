"""The menu and the row of panes for the shown run: counts, and a reason for what is empty."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.base import words as fmt
from core.views.contents import PageContent, page_contents
from pages import menu
from pages.components.menu.view import Mark, mark_menu
from pages.look.text import plain
from pages.session import url
from pages.session.shown import ShownRun


def draw_panes(page: str, shown: ShownRun | None) -> None:
    """Mark the menu, and draw the row of panes of the page's entry if it has several."""
    by_page = _contents(shown)
    mark_menu(_marks(by_page), _entries(), key="menu")
    entry = menu.entry_of(menu.PAGES[page])
    panes = [pane for pane in entry.pages if pane in entry.panes or pane.name == page]
    if len(panes) > 1:
        with st.container(horizontal=True, gap="small", key="panes"):
            for pane in panes:
                _link(pane, by_page.get(pane.name, PageContent()))


def _contents(shown: ShownRun | None) -> dict[str, PageContent]:
    if shown is None or shown.reading:
        return {}
    return page_contents(None if shown.is_no_trace else shown.report, live=shown.going)


def _entry_content(entry: menu.MenuEntry, by_page: Mapping[str, PageContent]) -> PageContent:
    """Return the content of an entry of the menu: its first pane's count, and a reason if all its panes are empty."""
    panes = [by_page.get(pane.name, PageContent()) for pane in entry.panes]
    return PageContent(panes[0].count, panes[0].why_empty if all(pane.why_empty for pane in panes) else "")


def _link(pane: menu.Page, content: PageContent) -> None:
    title = f":gray[{pane.title}]" if content.why_empty else pane.title
    count = f" :gray[{fmt.number(content.count)}]" if content.count is not None else ""
    st.page_link(
        pane.script,
        label=title + count,
        icon="",
        help=plain(content.why_empty) or None,
        query_params=url.link(),
    )


def _marks(by_page: Mapping[str, PageContent]) -> dict[str, Mark]:
    marks = {}
    for entry in menu.ENTRIES:
        content = _entry_content(entry, by_page)
        count = fmt.number(content.count) if content.count is not None else ""
        if count or content.why_empty:
            marks[entry.panes[0].name] = Mark(count, content.why_empty)
    return marks


def _entries() -> dict[str, str]:
    """Return the page that the entry of each other page opens."""
    return {page.name: entry.panes[0].name for entry in menu.ENTRIES for page in entry.pages[1:]}
