"""Who visits, as a page is told by the gate."""

from __future__ import annotations

import streamlit as st

from core import AccessError
from pages.gate.middleware import VISITOR
from pages.gate.rules import Visitor, code_allowed

NOT_YOURS = (
    "Only the owner of this server may start, cancel and delete runs here. If that is you, open the address with `?token=` "
    "that it printed at its start."
)


def visitor() -> Visitor:
    """Who visits this session; the owner where there is no server at all, and an onlooker where there is one without a gate."""
    headers = st.context.headers
    if len(headers) == 0:
        return Visitor.OWNER
    said = headers.get_all(VISITOR)
    return Visitor(said[0]) if len(said) == 1 else Visitor.ONLOOKER


def may_change() -> bool:
    """Whether this visitor may start, cancel and delete runs."""
    return visitor() is not Visitor.ONLOOKER


def require_change() -> None:
    """Raise AccessError for one who may only look."""
    if not may_change():
        raise AccessError(NOT_YOURS)


def may_bring_code() -> bool:
    """Whether this visitor may have code of their own run."""
    return code_allowed() and visitor() is Visitor.OWNER
