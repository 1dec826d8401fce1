"""AOTInductor page: export the model, compile it ahead of time to a package, run it from Python and from C++."""

import streamlit as st

from core.analysis import aoti_sentence, aoti_story, target_words
from pages.look.glossary import GLOSSARY
from pages.look.text import LONGEST_TEXT, prose
from pages.parts.aotinductor.ask import ask_for_package
from pages.parts.aotinductor.panels import package_way, panel
from pages.parts.aotinductor.times import sizes_part, times_part
from pages.session.downloads import json_twin
from pages.session.require import require_report

WHAT = (
    "`torch.export` captures the whole model as one graph of aten ops, with ranges for the sizes that are dynamic. "
    "AOTInductor compiles it ahead of time to a package: one file with the code and the constants, which runs without "
    "the model's source and without Dynamo, from Python and from a program in C++."
)

view = require_report("The model as a package, compiled ahead of time, will stand here.")
report = view.report
story = aoti_story(report)
if target_words(report):
    st.title("Nothing was run, so nothing was packaged.", anchor=False)
    st.write(f"The code was {target_words(report)}.")
    st.stop()
if story is None:
    st.title("The model was not packaged.", anchor=False, help=GLOSSARY["package"])
    st.write(WHAT)
    ask_for_package(view, "Package this model")
    st.stop()

st.title(prose(aoti_sentence(report), LONGEST_TEXT), anchor=False, help=GLOSSARY["package"])
step = package_way(story)
if story.package is not None:
    left, right = st.columns([6, 5], gap="medium")
    with left:
        times_part(view, story)
    with right:
        sizes_part(story)
panel(view, story, step)
with st.container(horizontal=True, vertical_alignment="center"):
    json_twin("aotinductor", story, key="aotinductor")
with st.expander("Package again, with other sizes", story.problem == "export", icon=":material/tune:"):
    ask_for_package(view, "Package again")
