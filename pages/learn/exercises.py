"""Exercises page: broken models to fix, each checked by a run."""

import streamlit as st

from core.views.exercises import ExerciseView
from pages.parts.learn.lessons import picked_exercise, solution, task
from pages.session.exercises import exercises
from pages.session.header import page_title

views = exercises()
page_title(ExerciseView.progress(views.values()))
left, right = st.columns([1, 3], gap="large")
with left:
    view = picked_exercise(views)
with right:
    task(view)
    solution(view, list(views))
