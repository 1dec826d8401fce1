"""Main script: page config, menu, header, and then the page in the URL."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))

from core import CompileboardError  # noqa: E402
from pages.components.history.view import one_entry_a_page  # noqa: E402
from pages.look.palette import MENU_PX, image  # noqa: E402
from pages.look.text import LONGEST_TEXT, plain  # noqa: E402
from pages.menu import NEW_RUN  # noqa: E402
from pages.parts.comments.comments import comments  # noqa: E402
from pages.parts.palette.palette import command_palette  # noqa: E402
from pages.session.header import header  # noqa: E402
from pages.session.url import (  # noqa: E402
    PAGE,
    arrive,
    drop_press,
    keep_url,
    menu_pages,
    set_state,
)

st.set_page_config(page_title="Compileboard", page_icon=image("icon.png"), layout="wide", initial_sidebar_state=MENU_PX)
st.html(HERE / "look" / "house.css")
st.logo(image("logo.svg") or "Compileboard", icon_image=image("icon.svg"), size="large")

page = st.navigation(menu_pages())
one_entry_a_page(key="history")
opened = page.url_path or NEW_RUN.name
set_state(PAGE, opened)
arrive(opened)
try:
    top = header(opened)
    command_palette(top.shown, top.runs)
    comments(top.shown, top.line)
    page.run()
    drop_press()
    keep_url()
except CompileboardError as error:
    st.error(plain(str(error), LONGEST_TEXT), icon=":material/error:")
