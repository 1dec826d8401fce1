"""Recompiles: the lineage of every frame, and the guard that failed at each step."""

import streamlit as st

from core import words as fmt
from core.analysis import lineage
from core.analysis.repairs import newest_reasons
from pages.look.glossary import GLOSSARY
from pages.look.text import code, plain
from pages.parts.dynamo.recompiles import step
from pages.parts.dynamo.repairs import offer_all, offer_repairs, recompile_repairs, way_back
from pages.session.downloads import json_twin
from pages.session.require import require_report

view = require_report("What made torch compile a frame again will stand here.")
report = view.report
recompiled = {item.compilation for item in report.recompiles}
if not report.compilations:
    st.title("No frame was compiled, so none was compiled again.", anchor=False)
    way_back(view)
    st.stop()
if not recompiled:
    st.title("No recompile: the first code of every frame was good for all calls.", anchor=False)
    way_back(view)
    st.write("Two calls with other shapes, dtypes or arguments would show one; give them under *options* of a new run.")
    st.stop()

st.title(f"{fmt.count(len(recompiled), 'recompile')} because a guard failed.", anchor=False, help=GLOSSARY["recompile"])
way_back(view)
newest = {reason.compilation: reason for reason in newest_reasons(report.recompiles)}
offer_all(view, recompile_repairs(view, newest.values()), key="recompiles")
json_twin("recompiles", report.recompiles, key="recompiles")
for compilations in lineage(report):
    head = compilations[0]
    st.subheader(f"{plain(head.frame.name)}", anchor=False)
    st.markdown(" → ".join(f"`[{compilation.id}]`" for compilation in compilations))
    for compilation in compilations[1:]:
        step(compilation, [reason for reason in report.recompiles if reason.compilation == compilation.id], report)
        if compilation.id in newest:
            offer_repairs(view, newest[compilation.id], key=f"recompile-{compilation.id}")
    symbols = {(symbol.name, symbol.source): symbol for compilation in compilations for symbol in compilation.symbols}
    if symbols:
        st.caption("Symbols that a recompile made of sizes and numbers that changed:")
    for symbol in symbols.values():
        st.markdown(
            f"{code(symbol.name)} is {code(symbol.source)}, {code(symbol.value)} at first, in {code(symbol.range)}"
        )
