"""Page "Where in torch": places in torch's and Triton's source, with their times in the shown run."""

import streamlit as st

from core.views.glossary import LandmarksView
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import FILL, TALL
from pages.session import url
from pages.session.header import page_title
from pages.session.shown import shown_run
from pages.session.tables import data_frame, picked_by_url

WIDE = {
    "landmark": st.column_config.TextColumn(width=260),
    "entered": st.column_config.TextColumn(width=80, help="By torch's own timers; torch times some places alone"),
    "time": st.column_config.TextColumn(width=80),
    "what it does": st.column_config.TextColumn(width=320),
    "source": st.column_config.TextColumn(width=300),
}
here = shown_run()
landmarks = LandmarksView(here.report if here is not None else None)
page_title(landmarks.title)
st.caption(landmarks.note)
chosen = landmarks.of(url.selected())
left, right = st.columns([3, 2], gap="medium") if chosen is not None else (st.container(), st.container())
with left:
    picked_by_url(data_frame(landmarks.rows), landmarks.ids, "landmarks", height=TALL, column_config=WIDE)
if chosen is None:
    st.caption("Select a place for its source.")
    st.stop()
with right:
    st.subheader(chosen.heading, anchor=False)
    st.markdown(chosen.words)
    st.caption(chosen.place)
    if chosen.source is not None:
        lines = code_lines(chosen.source.text, prefix="torch", first=chosen.source.line)
        code_view(CodePicture(chosen.place, "python", lines), key=f"landmark-{chosen.heading}", height=FILL)
