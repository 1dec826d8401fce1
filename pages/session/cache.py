"""What is made once for all sessions, and how much of it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
# A flame chart of a thousand phases takes 2 MB.
MOST_KEPT = 32


def cached(
    says: str | bool = False, *, seconds: float | None = None
) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """Keep the newest answers of a function, shared by all sessions: they must not be changed.

    An argument whose name begins with `_` does not count as a part of the question. `says` is shown while an answer is
    made, and after `seconds` it is made anew.
    """
    return st.cache_resource(max_entries=MOST_KEPT, show_spinner=says, ttl=seconds)
