"""Glossary page: torch's terms in compilation order, with links to the run and to torch's manual."""

import streamlit as st

from core.views.glossary import GlossaryView
from pages import menu
from pages.session import url
from pages.session.header import page_title
from pages.session.tables import search_field

title = st.empty()
glossary = GlossaryView(search_field(url.TERM, "guard, fusion, warm-up …"))
page_title(glossary.title, place=title)
if not glossary.terms:
    st.info("No term has this text.")
for name, term in glossary.terms.items():
    page = menu.PAGES[term.page]
    with st.container(gap=None):
        st.markdown(f"**{name}** — {term.meaning}")
        with st.container(horizontal=True):
            st.page_link(page.script, label=glossary.link_label(page.title), icon=page.icon, query_params=url.link())
            if term.manual:
                st.page_link(term.manual, label="torch's manual", icon=":material/open_in_new:")
