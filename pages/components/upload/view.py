"""A log from the visitor's machine: dropped or picked, sent to disk while its progress is shown."""

from __future__ import annotations

from pathlib import Path

import msgspec
import streamlit as st

from core.base import words as fmt
from pages.components.modules import joined

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_upload",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=joined(HERE / "view.js"),
)


class UploadData(msgspec.Struct, frozen=True):
    """The message to the browser: how large a file may be, in bytes and in words."""

    most: int
    words: str


def upload(most_bytes: int, *, key: str) -> str | None:
    """Offer to bring a file of at most so many bytes; returns the id of the run that it became just now."""
    data = UploadData(most_bytes, fmt.bytes_(most_bytes))
    result = _COMPONENT(key=key, data=msgspec.to_builtins(data), on_stored_change=lambda: None)
    return result.stored if isinstance(result.stored, str) else None
