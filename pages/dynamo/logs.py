"""Torch's log page: TORCH_LOGS messages, filtered by compilation, name and text, with user lines."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.texts import LogsView
from pages.parts.dynamo.tables import choose_messages, message_details, message_table, record_logs
from pages.session.downloads import text_twin
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("What torch logs while it compiles will stand here.")
logs = LogsView(view.report, view.text)
if not logs.is_recorded:
    page_title(logs.title)
    st.write(logs.advice)
    record_logs(view)
    st.stop()

title = st.empty()
with st.container(horizontal=True, vertical_alignment="bottom"):
    logs = choose_messages(logs)
    text_twin("torch-logs", lambda: logs.text, key="torch-logs")
page_title(logs.title, help=GLOSSARY["torch's log"], place=title)
if not logs.matches:
    st.info("No message has this text.")
    st.stop()
left, right = st.columns([3, 2], gap="medium")
with left:
    chosen = message_table(logs)
with right:
    message_details(view, logs, chosen)
