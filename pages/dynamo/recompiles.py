"""Recompiles page: the tree of every recompiled frame, the failed guard of each recompile, and its cost."""

import streamlit as st

from core.analysis import became_words, heaviest, lineage_groups, lineages, refused_calls
from core.analysis.repairs import newest_reasons
from pages import menu
from pages.components.lineage.view import lineage_view
from pages.look.glossary import GLOSSARY
from pages.look.text import plain
from pages.parts.dynamo.recompiles import alike_words, chosen_node, edge_box, how_told, letters, picture, title
from pages.parts.dynamo.repairs import offer_all, offer_repairs, recompile_repairs, way_back
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.navigate import go_to
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("What made torch compile a frame again will stand here.")
report = view.report
recompiled = {item.compilation for item in report.recompiles}
if not report.compilations:
    st.title("No frame was compiled, so none was compiled again.", anchor=False)
    way_back(view)
    st.stop()
if not recompiled:
    became = became_words(report)
    st.title(f"No recompile: {became or 'the first code of every frame was good for all calls'}.", anchor=False)
    way_back(view)
    for call in refused_calls(report):
        st.caption(f"Call {call.index}: {plain(call.inputs)}")
        st.code(call.raised, language=None, wrap_lines=True)
    st.write("Two calls with other shapes, dtypes or arguments would show one; give them under *options* of a new run.")
    st.stop()

found = lineages(report)
st.title(title(found, len(recompiled)), anchor=False, help=GLOSSARY["recompile"])
way_back(view)
newest = {reason.compilation: reason for reason in newest_reasons(report.recompiles)}
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(how_told(report))
    json_twin("recompiles", report.recompiles, key="recompiles")
offer_all(view, recompile_repairs(view, newest.values()), key="recompiles")
here = shown_compilation(report)
shown = chosen_node(found, here, here == heaviest(report), url.selected())
for number, group in enumerate(lineage_groups(found)):
    frame = next((tree for tree in group.frames if shown in tree.nodes), group.longest)
    alike_words(group)
    data = picture(frame, report, shown.compilation.id, letters(found) if number == 0 else "")
    clicked = lineage_view(data, key=f"lineage-{number}")
    if clicked and clicked != shown.compilation.id:
        go_to(menu.RECOMPILES, url.link(compilation=clicked, select=clicked))
    if shown in frame.nodes:
        edge_box(shown, report)
        if shown.compilation.id in newest:
            offer_repairs(view, newest[shown.compilation.id], key=f"recompile-{shown.compilation.id}")
if any(compilation.symbols for compilation in report.compilations):
    st.page_link(
        menu.DYNAMIC_SHAPES.script,
        label="Symbols that recompiles made of sizes and numbers that changed",
        icon=menu.DYNAMIC_SHAPES.icon,
        query_params=url.link(compilation=found[0].nodes[-1].compilation.id),
    )
