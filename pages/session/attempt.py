"""What a visitor sets off may fail; pages do not catch: it goes through here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core import CompileboardError
from pages.look.text import LONGEST_TEXT, plain, prose

Made = TypeVar("Made")


def refused(words: str) -> None:
    """Why not, on the page."""
    st.error(prose(words, LONGEST_TEXT), icon=":material/error:")


def passed_over(words: str) -> None:
    """Nothing, where something else is shown instead."""


def toasted(words: str) -> None:
    """Why not, in a corner: in a callback there is no place on the page."""
    st.toast(plain(words, LONGEST_TEXT))


def attempt(action: Callable[[], Made], say: Callable[[str], object] = refused) -> Made | None:
    """What an action makes; None where it cannot, and `say` is told why."""
    try:
        return action()
    except CompileboardError as error:
        say(str(error))
        return None
