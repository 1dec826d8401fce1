"""Artifacts page: every record of the log as torch wrote it, chosen by compilation, kind and text."""

import streamlit as st

from core.views.glossary import GLOSSARY
from pages.parts.dynamo.tables import choose_records, open_artifacts, record_details, record_table
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("Every record of a run's log will stand here.")
artifacts = open_artifacts(view)
if artifacts is None:
    page_title("The records are listed once the run has ended")
    st.stop()

title = st.empty()
artifacts = choose_records(artifacts)
page_title(artifacts.title, help=GLOSSARY["artifact"], place=title)
if not artifacts.matches:
    st.info("No record matches. Clear the search, or choose another kind.")
    st.stop()
left, right = st.columns([2, 3], gap="medium")
with left:
    chosen = record_table(artifacts)
with right:
    record_details(view, artifacts, chosen)
