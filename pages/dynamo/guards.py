"""Guards page: the guards of a compilation by family, and the cost of checking them."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.guards import GuardsView
from pages.look.palette import TALL
from pages.look.text import plain
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import data_frame, in_words, picked, search_field

SHARE = st.column_config.ProgressColumn(
    # The bar's own format has two decimals; all our numbers have three significant digits.
    format="%.3g %%",
    min_value=0,
    max_value=100,
    width=120,
    help="Share of one check of the guard tree, including the access to the values",
)
WIDE = {
    "value": st.column_config.TextColumn(width=280),
    "recompiles": st.column_config.TextColumn(help="Compilations caused by its failure"),
    "protects": st.column_config.TextColumn(width=280),
}
# Number of rows that fit without scrolling.
FEW = 14
view = require_view("The guards of a compilation will stand here.")
if view is None or not view.compilation.guards:
    page_title("No guard was recorded for this compilation")
    if view is not None and view.compilation.error:
        st.write(plain(view.compilation.error))
    st.stop()

guards = GuardsView(view.report, view.compilation)
page_title(guards.title, help=GLOSSARY["guard"])
st.caption(guards.check_time)

left, right = st.columns(2, gap="medium")
with left:
    table = data_frame(guards.family_rows)
    family = picked(table, guards.families, "families", column_config={"share": SHARE})
    st.caption(guards.family_meanings)
with right:
    if guards.filter_rows:
        st.dataframe(data_frame(guards.filter_rows), hide_index=True)
    if guards.filter_code:
        st.code(guards.filter_code, language="python", wrap_lines=True)
    st.caption(guards.filter_note)

with st.container(horizontal=True, vertical_alignment="bottom"):
    text = search_field(url.GUARD, "a variable, TENSOR_MATCH, a file …")
    json_twin("guards", view.compilation.guards, key="guards")
shown = guards.matches(family, text)
chosen = picked(
    in_words(data_frame(guards.table(shown)), {"check": guards.check_words}),
    shown,
    "guard-table",
    height=TALL if len(shown) > FEW else "auto",
    column_config=WIDE,
)
if chosen is None:
    st.caption(guards.table_note(shown))
    st.stop()
details = guards.details(chosen)
st.markdown(details.heading)
st.code(details.expression, language="python", wrap_lines=True)
if details.reason:
    st.markdown(details.reason)
if details.hint:
    st.caption(details.hint)
if details.failures:
    st.markdown(details.failures)
