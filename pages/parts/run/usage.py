"""A visitor's use of the server's bounds, shown before they are used up."""

from __future__ import annotations

import streamlit as st

from core import Limits, Usage, usage
from core.base import words as fmt
from pages.gate.visitor import who
from pages.session import server
from pages.session.cache import cached

SHOWN_S = 10.0
NEARLY = 0.8


def what_is_used() -> None:
    """Draw the use of each bound that the server's owner has set; nothing without bounds."""
    limits = server.runner().limits
    parts = _parts(limits, _usage(who().name))
    if not parts:
        return
    words = " · ".join(f"{used} of {most} {what}" for used, most, what, _ in parts)
    if max(share for *_, share in parts) < NEARLY:
        st.caption(f"Used here: {words}.")
    else:
        st.warning(
            f"Used here: {words}. When it is used up, nothing new is started or opened; what is here stays until it "
            f"is deleted.",
            icon=":material/inventory_2:",
        )


@cached(seconds=SHOWN_S)
def _usage(name: str) -> Usage:
    return usage(server.runner().store, name)


def _parts(limits: Limits, used: Usage) -> list[tuple[str, str, str, float]]:
    """Return each bound: the amount used, its maximum, its name, and the share.

    For a visitor with a name, the bounds of that visitor.
    """
    known = (
        (limits.runs, used.runs, fmt.number, "runs of yours"),
        (limits.visitor_bytes, used.visitor_bytes, fmt.gib, "for your runs"),
        (limits.store_bytes, used.store_bytes, fmt.gib, "for all"),
    )
    bounds = known if who().name else known[2:]
    return [(words(have), words(most), what, have / most) for most, have, words, what in bounds if most is not None]
