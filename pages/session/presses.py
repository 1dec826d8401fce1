"""Buttons whose clicks are not lost: a click is stored before the page runs, and taken where its button is drawn.

Streamlit reports a click in one run of a page. Another rerun, of a poll or of a second widget, may end that run before
it comes to the button.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.session import url
from pages.session.navigate import PAGE
from pages.session.state import held, hold

# Key of the click that no page has taken yet: the page, the shown run, and the button.
PRESS = "press"


def pressed(label: str, *, key: str, **look: Any) -> bool:
    """Draw a button; return True once after a click, unless another page or run is shown by then.

    A button that deletes has a callback with what it deletes, since the selection may change after the click.
    """
    st.button(label, key=key, on_click=_press, args=(key,), **look)
    if held(PRESS) != _press_of(key):
        return False
    hold(PRESS, None)
    return True


def drop_press() -> None:
    """Forget a click whose button is not on the page any more; call it when the page is drawn."""
    hold(PRESS, None)


def _press(key: str) -> None:
    hold(PRESS, _press_of(key))


def _press_of(key: str) -> tuple[Any, Any, str]:
    return held(PAGE), held(url.RUN), key
