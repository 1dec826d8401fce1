"""Faster page: a search for settings that make the shown model faster, and the diff of its file."""

from functools import partial

import streamlit as st

from core.views.sweep import view as views
from pages.parts.run.submit import job_on_device
from pages.parts.sweep.sweeps import search_form, search_progress
from pages.session import server
from pages.session.require import empty, require_report
from pages.session.runs import open_search
from pages.session.shown import shown_run
from pages.session.tables import draw

PURPOSE = "This page finds settings that make a model faster."
shown = shown_run()
search = open_search(shown.job if shown is not None else None)
if shown is None and search is None:
    empty(PURPOSE)
    st.stop()
if shown is not None and shown.status.state == "damaged":
    require_report(PURPOSE)
base = job_on_device(shown) if shown is not None else None
parts = {views.PROGRESS: partial(search_progress, search), views.START: partial(search_form, base)}
draw(views.faster(search.view if search is not None else None, server.runner().store), parts)
