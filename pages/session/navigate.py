"""Navigation to a page: the only place that leaves the current page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages import menu
from pages.session.state import held, hold

# Keys: the current page, stored by `app.py`; and a navigation within it, until the browser has the new URL.
PAGE, WAY = "page", "way"


@dataclass(frozen=True, slots=True)
class _Way:
    """A navigation within a page, from one URL to another."""

    page: str
    left: dict[str, str]
    wanted: dict[str, str]


def go_to(page: menu.Page, query: Mapping[str, str]) -> NoReturn:
    """Open a page with these query parameters, also the current page.

    For the current page the path stays the same. So a request that the browser sends before it has the new URL is for
    the old URL of the same page.
    """
    if page.name != held(PAGE):
        st.switch_page(page.script, query_params=dict(query))
    hold(WAY, _Way(page.name, st.query_params.to_dict(), dict(query)))
    st.rerun()


def arrive(page: str) -> None:
    """Apply the pending navigation before the page is drawn.

    The wanted URL applies until the browser requests a URL other than the left one, or goes back to the left one.
    """
    way: _Way | None = held(WAY)
    context = get_script_run_ctx()
    back = context is not None and context.is_history_navigation
    if way is not None and way.page == page and way.left == st.query_params.to_dict() and not back:
        st.query_params.from_dict(way.wanted)
    else:
        hold(WAY, None)
