"""Clicks that are not lost: a click is stored before the page runs, and taken where its button or view is drawn.

Streamlit reports a click in one run of a page. Another rerun, of a poll or of a second widget, may end that run before
it comes to the button.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.session import url
from pages.session.state import held, hold
from pages.session.url import PAGE

# Key of the click that no page has taken yet: the page, the shown run, the button or view, and what was clicked.
PRESS = "press"


def pressed(label: str, *, key: str, **look: Any) -> bool:
    """Draw a button; return True once after a click, unless another page or run is shown by then.

    A button that deletes has a callback with what it deletes, since the selection may change after the click.
    """
    st.button(label, key=key, on_click=press, args=(key,), **look)
    return taken(key) is not None


def press(key: str, clicked: Any = True) -> None:
    """Store a click on a button, or on a part of a view, as its callback."""
    hold(PRESS, (*_place(), key, clicked))


def taken(key: str) -> Any:
    """Return once what was clicked in a view; None without a click, and if another page or run is shown by then."""
    if held(PRESS) is None or held(PRESS)[:-1] != (*_place(), key):
        return None
    *_, clicked = held(PRESS)
    hold(PRESS, None)
    return clicked


def drop_press() -> None:
    """Forget a click whose button or view is not on the page any more; call it when the page is drawn."""
    hold(PRESS, None)


def _place() -> tuple[Any, Any]:
    return held(PAGE), held(url.RUN)
