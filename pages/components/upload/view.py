"""A log from the visitor's machine: dropped or picked, sent to disk while its progress is shown."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.look import format as fmt

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_upload",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=(HERE / "view.js").read_text(encoding="utf-8"),
)


def upload(most_bytes: int, *, key: str) -> str | None:
    """Offer to bring a file of at most so many bytes; returns the id of the run that it became just now."""
    data = {"most": most_bytes, "words": fmt.bytes_(most_bytes)}
    result = _COMPONENT(key=key, data=data, on_stored_change=lambda: None)
    return result.stored if isinstance(result.stored, str) else None
