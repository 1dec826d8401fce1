"""The theme of `.streamlit/config.toml` as a message, which Streamlit makes anew for each run of each page.

That takes a twentieth of a page's time, and the theme stays the same while the server runs.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session


class Fill(Protocol):
    """A function that fills a message with a section of the theme."""

    def __call__(self, msg: CustomThemeConfig, section: str = "theme") -> None:
        """Set the message's fields to the section's options."""


def filled_once(fill: Fill) -> Fill:
    """Return a function that fills a message with a section of the theme as `fill` does, but reads it once."""

    @cache
    def theme(section: str) -> CustomThemeConfig:
        made = CustomThemeConfig()
        fill(made, section)
        return made

    def filled(msg: CustomThemeConfig, section: str = "theme") -> None:
        if (made := theme(section)).ByteSize():
            msg.MergeFrom(made)

    return filled


def read_theme_once() -> None:
    """Have Streamlit read the theme once; call it when the server starts."""
    app_session._populate_theme_msg = filled_once(app_session._populate_theme_msg)
