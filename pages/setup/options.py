"""Options page: all options of Inductor and Dynamo, and a run with one option changed.

The options are those of `torch._inductor.config` and `torch._dynamo.config`.
"""

from functools import partial

import streamlit as st

from core.views.setup import ConfigView
from pages.look.palette import MAX_LINE_CHARS, PICTURE, SHORT, code_height
from pages.look.text import plain
from pages.parts.run.launch import torch_is_starting
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.shown import shown_run
from pages.session.tables import arrow_table, picked, search_field
from pages.session.url import pressed

ALL = "both"
WIDE = {
    "option": st.column_config.TextColumn(width=300),
    "value": st.column_config.TextColumn(width=160),
    "environment variable": st.column_config.TextColumn(width=240),
    "comment": st.column_config.TextColumn(width=480, help="Of torch's source"),
}

environment = server.environment()
if environment is None:
    page_title("This page shows every option of torch.compile")
    torch_is_starting()
    st.stop()
if environment.problem:
    page_title("torch cannot be started, so its options are unknown")
    st.error(plain(environment.problem), icon=":material/error:")
    st.stop()

title = st.empty()
with st.container(horizontal=True, vertical_alignment="bottom"):
    text = search_field(url.OPTION, "cudagraph, TORCHINDUCTOR_, fusion …")
    module = st.segmented_control("Module", [ALL, *ConfigView.modules], default=ALL, key="options-module")
    changed = st.toggle(
        "Set here", key="options-changed", help="By an environment variable of the server, or by a program"
    )
config = ConfigView(environment, text, ConfigView.modules.get(module or ALL), changed)
page_title(config.title, place=title)
st.caption(config.note)
if not config.options:
    st.info("No option has all these words in its name, its environment variables or its comment.")
    st.stop()

table = arrow_table(config.rows)
chosen = picked(table, config.options, "options", height=PICTURE, column_config=WIDE)
json_twin("options", config.options, key="options")
if chosen is None:
    st.caption("Select an option for its comment, the lines of torch that read it, and a run with it.")
    st.stop()

option = config.of(chosen)
st.subheader(option.heading, anchor=False)
st.markdown(option.facts)
left, right = st.columns(2, gap="medium")
with left:
    if option.comment:
        st.code(option.comment, language=None, wrap_lines=True, height=code_height(option.comment))
    st.caption(option.place)
    value = st.text_input(
        "Value", value=chosen.value, key=f"value-{chosen.module}-{chosen.name}", max_chars=MAX_LINE_CHARS
    )
    st.code(option.command(value), language="bash", wrap_lines=True)
    shown = shown_run()
    job = job_again(shown) if shown is not None else None
    if job is not None and pressed(
        "Run the shown model with it", key="run-with-option", icon=":material/play_arrow:", type="primary"
    ):
        changed_job = attempt(partial(option.job, job, value))
        if changed_job is not None:
            submit_or_open(changed_job)
with right:
    st.markdown(option.uses_title)
    if option.uses_text:
        st.code(option.uses_text, language=None, height=SHORT)
