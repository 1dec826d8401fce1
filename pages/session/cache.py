"""Caches shared by all sessions, and their limits.

Charts on a page: the visitor's theme, and figures cached for all sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import plotly.graph_objects as go
import streamlit as st

from pages.look.palette import Theme

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
# A flame chart of a thousand phases takes 2 MB.
MOST_KEPT = 32


def cached(
    says: str | bool = False, *, seconds: float | None = None
) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """Cache the newest results of a function for all sessions; callers must not change the results.

    Arguments whose names begin with `_` are not part of the key. `says` is shown while a result is computed; results
    expire after `seconds`. Results of a run that is `going` are not cached, since more will be recorded.
    """

    def keep(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        kept: Callable[..., Answer] = st.cache_resource(max_entries=MOST_KEPT, show_spinner=says, ttl=seconds)(function)
        names = tuple(signature(function).parameters)

        @wraps(function)
        def answer(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            going = any(getattr(arg, "going", False) is True for arg in args)
            # By name, since Streamlit inspects the function's signature for each positional argument of each call.
            return function(*args, **kwargs) if going else kept(**dict(zip(names, args, strict=False)), **kwargs)

        return answer

    return keep


def theme() -> Theme:
    """Return the visitor's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def kept(make: Callable[[], go.Figure], *what: str | int | None) -> go.Figure:
    """Return the figure that `make` returns, cached for all sessions by `what`."""
    return _kept(what, make)


@cached()
def _kept(what: tuple[str | int | None, ...], _make: Callable[[], go.Figure]) -> go.Figure:
    return _make()
