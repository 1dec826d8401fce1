"""Tour page: five stops from the Python code to the running kernels, on the shown run."""

from functools import partial

import streamlit as st

from core.views.tour import TourView
from pages.parts.graphs.drawn import stop_picture
from pages.parts.learn.lessons import boxes, claims, picked_stop, questions, stop_details
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("This page explains torch.compile step by step on a run.")
tour = TourView.of(view.report, view.side.nodes)
page_title(tour.title)
number = picked_stop(tour)
boxes(tour, number)
left, right = st.columns([3, 2], gap="large")
with left:
    stop_details(view, tour, number, partial(stop_picture, view))
    claims(tour)
with right:
    questions(tour)
