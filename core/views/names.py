"""Names from elsewhere in a view's sentences, which are text with code in backticks."""

from __future__ import annotations

from core.views.markdown import LONGEST_NAME


def short(text: str, limit: int = LONGEST_NAME) -> str:
    """Return text in one line without backticks, cut to `limit` characters."""
    line = " ".join(text.replace("`", "'").split())
    return line[:limit] + ("…" if len(line) > limit else "")


def quoted(text: str, limit: int = LONGEST_NAME) -> str:
    """Return a name as code; empty for an empty name."""
    line = " ".join(text.replace("`", "'").split())[:limit]
    return f"`{line}`" if line else ""


def sentence(text: str) -> str:
    """Return a clause as a sentence: with a capital letter and a full stop; empty for an empty one."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""
