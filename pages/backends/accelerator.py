"""Accelerator page: segments, program, passes, memory, file, and calls across the ABI of one graph."""

import streamlit as st

from core.analysis import pipeline_sentence, scope_words
from pages.look.glossary import GLOSSARY
from pages.parts.accelerator.change import change_menu
from pages.parts.accelerator.divided import division_words
from pages.parts.accelerator.empty import without_pipeline
from pages.parts.accelerator.pieces import chosen_piece, pieces
from pages.parts.accelerator.stations import draw_station, station_of
from pages.parts.drawer import title_row
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation

run = require_report("What the backend accelerator made of a graph will stand here.")
compilation = shown_compilation(run.report)
if compilation is None or not compilation.pipelines:
    without_pipeline(run)
    st.stop()

view = run.of(compilation)
with title_row() as title:
    menus = st.container(horizontal=True, gap="small", width="content")
row = st.container(horizontal=True, vertical_alignment="center", gap="small")
with row:
    station = station_of(view)
    piece = chosen_piece(pieces(compilation))
with menus:
    change_menu(view, piece)
    with downloads():
        json_twin("pipeline", compilation.pipelines, key="pipeline")
title.title(
    scope_words(run.report, compilation) + pipeline_sentence(run.report, compilation.id),
    anchor=False,
    help=f"{GLOSSARY['pipeline']} {division_words(piece.pipeline)}",
)
draw_station(view, piece, station, row)
