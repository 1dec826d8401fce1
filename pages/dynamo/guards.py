"""Guards: what must hold for the compiled code to be used again."""

import pandas as pd
import streamlit as st

from pages.look import format as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import code, one_line, plain
from pages.parts.dynamo.guards import as_printed, check_time, matches
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation

GROUPINGS = {"kind": "Kind", "source": "Value", "location": "Line"}


here, report = require_report("The guards of a compilation will stand here.")
item = shown_compilation(report)
if item is None or not item.guards:
    st.title("No guard was recorded for this compilation.", anchor=False)
    if item is not None and item.error:
        st.write(plain(item.error))
    st.stop()

st.title(
    f"{fmt.count(len(item.guards), 'guard')} must hold to use [{item.id}] again.", anchor=False, help=GLOSSARY["guard"]
)
st.caption(check_time(item) + as_printed(item))

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
    json_twin("guards", item.guards, key="guards")

kept = [guard for guard in item.guards if matches(guard, wanted or "")]
groups = pd.Series([getattr(guard, grouping or "kind") or "(none)" for guard in kept], dtype=str).value_counts()
left, right = st.columns([2, 5], gap="medium")
with left:
    table = pd.DataFrame(
        {GROUPINGS[grouping or "kind"]: [one_line(name) for name in groups.index], "guards": groups.to_numpy()}
    )
    event = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="single-row", key=f"groups-{grouping}", height=560
    )
    rows = [index for index in event.selection.rows if index < len(groups)]
with right:
    if rows:
        kept = [guard for guard in kept if (getattr(guard, grouping or "kind") or "(none)") == groups.index[rows[0]]]
    details = pd.DataFrame(
        [
            {
                "kind": guard.kind,
                "value": one_line(guard.source, 200),
                "expression": one_line(guard.expression, 400),
                "your line": one_line(guard.code, 200),
                "location": one_line(guard.location, 200),
            }
            for guard in kept
        ],
        columns=["kind", "value", "expression", "your line", "location"],
    )
    chosen = st.dataframe(
        details,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="guard-table",
        height=470,
        column_config={"value": st.column_config.TextColumn(width="medium")},
    )
    picked = [index for index in chosen.selection.rows if index < len(kept)]
    if picked:
        guard = kept[picked[0]]
        st.markdown(f"**{plain(guard.kind)}** on {code(guard.source) or 'no single value'}")
        st.code(guard.expression, language="python", wrap_lines=True)
        if guard.code:
            st.markdown(f"because of {code(guard.code)} at {code(guard.location)}")
        if guard.hint:
            st.caption(f"torch's hint: {plain(guard.hint, 400)}")
    else:
        st.caption("Select a guard to read it whole.")
