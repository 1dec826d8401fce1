"""Guards: what must hold for the compiled code to be used again."""

import pandas as pd
import streamlit as st

from core import words as fmt
from core.analysis import mentions
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, code, one_line, plain
from pages.parts.dynamo.guards import as_printed, check_time
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_view
from pages.session.tables import picked

GROUPINGS = {"kind": "Kind", "source": "Value", "location": "Line"}


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

with st.container(horizontal=True, vertical_alignment="bottom"):
    wanted = st.text_input(
        "Search", key=url.GUARD, bind="query-params", placeholder="a variable, TENSOR_MATCH, a file …", width=380
    )
    grouping = st.segmented_control(
        "Group by",
        list(GROUPINGS),
        format_func=GROUPINGS.__getitem__,
        default="kind",
        key=url.GROUP,
        bind="query-params",
    )
    json_twin("guards", compilation.guards, key="guards")

kept = [guard for guard in compilation.guards if mentions(guard, wanted or "")]
groups = pd.Series([str(getattr(guard, grouping or "kind") or "(none)") for guard in kept], dtype=str).value_counts()
left, right = st.columns([2, 5], gap="medium")
with left:
    table = pd.DataFrame(
        {GROUPINGS[grouping or "kind"]: [one_line(name) for name in groups.index], "guards": groups.to_numpy()}
    )
    group = picked(table, list(groups.index), f"groups-{grouping}", height=TALL)
with right:
    if group is not None:
        kept = [guard for guard in kept if str(getattr(guard, grouping or "kind") or "(none)") == group]
    details = pd.DataFrame(
        [
            {
                "kind": guard.kind,
                "value": one_line(guard.source, LONGEST_LINE),
                "expression": one_line(guard.expression, LONGEST_TEXT),
                "your line": one_line(guard.code, LONGEST_LINE),
                "location": one_line(str(guard.location or ""), LONGEST_LINE),
            }
            for guard in kept
        ],
        columns=["kind", "value", "expression", "your line", "location"],
    )
    columns = {"value": st.column_config.TextColumn(width="medium")}
    chosen = picked(details, kept, "guard-table", height=TALL, column_config=columns)
    if chosen is not None:
        st.markdown(f"**{plain(chosen.kind)}** on {code(chosen.source) or 'no single value'}")
        st.code(chosen.expression, language="python", wrap_lines=True)
        if chosen.code:
            st.markdown(f"because of {code(chosen.code)} at {code(str(chosen.location))}")
        if chosen.hint:
            st.caption(f"torch's hint: {plain(chosen.hint, LONGEST_TEXT)}")
    else:
        st.caption("Select a guard to read it whole.")
