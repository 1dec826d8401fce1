"""The theme's message, made once."""

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime.app_session import _populate_theme_msg

from pages.gate.addresses import Fill, filled_once

SECTIONS = ("", ".light", ".dark", ".sidebar", ".light.sidebar", ".dark.sidebar")


def theme_by(fill: Fill) -> CustomThemeConfig:
    """The message with all sections, filled as `AppSession` does."""
    message = CustomThemeConfig()
    for section in SECTIONS:
        part = message
        for name in filter(None, section.split(".")):
            part = getattr(part, name)
        fill(part, f"theme{section}")
    return message


def test_a_theme_that_is_read_once_is_the_one_that_streamlit_makes() -> None:
    assert {f"theme.{each.value}" for each in config.CustomThemeCategories} == {f"theme{each}" for each in SECTIONS[1:]}
    once = filled_once(_populate_theme_msg)
    made, first, second = theme_by(_populate_theme_msg), theme_by(once), theme_by(once)
    assert made.dark.sidebar.background_color
    assert made == first == second
