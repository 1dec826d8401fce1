"""Guards page: the guards of a compilation by family, and the cost of checking them."""

import streamlit as st

from core.analysis import guard_families, guard_rows, mentions
from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.look.sizes import MAX_LINE_CHARS, TALL
from pages.look.text import plain
from pages.parts.dynamo.guards import (
    FEW,
    SHARE,
    WIDE,
    as_printed,
    by_cost,
    check_time,
    families_words,
    family_table,
    filters,
    guard_table,
    how_checked,
    whole_guard,
)
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_view
from pages.session.tables import picked

view = require_view("The guards of a compilation will stand here.")
if view is None or not view.compilation.guards:
    st.title("No guard was recorded for this compilation.", anchor=False)
    if view is not None and view.compilation.error:
        st.write(plain(view.compilation.error))
    st.stop()

compilation = view.compilation
st.title(
    f"{fmt.count(len(compilation.guards), 'guard')} must hold to use [{compilation.id}] again.",
    anchor=False,
    help=GLOSSARY["guard"],
)
st.caption(check_time(compilation) + as_printed(compilation))

rows = guard_rows(view.report, compilation)
families = guard_families(compilation, rows)
left, right = st.columns(2, gap="medium")
with left:
    table = family_table(families, compilation)
    family = picked(table, families, "families", column_config={"share": SHARE})
    st.caption(families_words(families))
with right:
    filters(compilation)

with st.container(horizontal=True, vertical_alignment="bottom"):
    wanted = st.text_input(
        "Search",
        key=url.GUARD,
        bind="query-params",
        placeholder="a variable, TENSOR_MATCH, a file …",
        max_chars=MAX_LINE_CHARS,
        width=380,
    )
    json_twin("guards", compilation.guards, key="guards")
kept = [row for row in (family.rows if family else rows) if mentions(row.guard, wanted or "")]
shown = by_cost(kept)
chosen = picked(
    guard_table(shown), shown, "guard-table", height=TALL if len(shown) > FEW else "auto", column_config=WIDE
)
if chosen is not None:
    whole_guard(chosen, view.report.recompiles)
else:
    st.caption(f"Select a guard to read it whole. {how_checked(kept)}")
