"""Actions of a visitor that may fail: pages do not catch exceptions, they run the action through here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core import CompileboardError
from pages.look.text import LONGEST_TEXT, plain, prose

Made = TypeVar("Made")


def refused(words: str) -> None:
    """Show on the page why an action was refused."""
    st.error(prose(words, LONGEST_TEXT), icon=":material/error:")


def passed_over(words: str) -> None:
    """Ignore a refusal, where the page shows something else instead."""


def toasted(words: str) -> None:
    """Show in a toast why an action was refused; a callback has no place on the page."""
    st.toast(plain(words, LONGEST_TEXT))


def attempt(action: Callable[[], Made], say: Callable[[str], object] = refused) -> Made | None:
    """Return the action's result; None if it raises CompileboardError, whose message goes to `say`."""
    try:
        return action()
    except CompileboardError as error:
        say(str(error))
        return None
