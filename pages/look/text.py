"""Text of users and of logs as Markdown, and as keys of components."""

from __future__ import annotations

import re

from core.views.markdown import (
    LONGEST_LINE,
    LONGEST_MESSAGE,
    LONGEST_NAME,
    LONGEST_TEXT,
    code,
    one_line,
    plain,
    prose,
)

__all__ = [
    "LONGEST_LINE",
    "LONGEST_MESSAGE",
    "LONGEST_NAME",
    "LONGEST_TEXT",
    "code",
    "component_key",
    "one_line",
    "plain",
    "prose",
]


def component_key(text: str) -> str:
    """Return a component key for any id: Streamlit refuses two underscores in a row, which kernel names have."""
    return re.sub("_(?=_)", "_-", text)
