"""The steps of a graph to the accelerator; the page shows one of them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.views.accelerator import SegmentView
from pages.parts.accelerator.calls import calls_station
from pages.parts.accelerator.change import changes_station, run_before
from pages.parts.accelerator.divided import graph_station
from pages.parts.accelerator.file import file_station
from pages.parts.accelerator.program import memory_station, passes_station, program_station
from pages.session import url
from pages.session.view import View

GRAPH, CHANGES = "graph", "changes"
STATIONS: dict[str, Callable[[View, SegmentView], None]] = {
    "program": program_station,
    "passes": passes_station,
    "memory": memory_station,
    "calls": calls_station,
}
# Stations with a button in the row of stations.
WITH_BUTTON: dict[str, Callable[[View, SegmentView, DeltaGenerator], None]] = {
    GRAPH: graph_station,
    "file": file_station,
}
IN_ORDER = (GRAPH, "program", "passes", "memory", "file", "calls")


def station_of(view: View) -> str:
    """Return the step that the URL names; the step of changes exists only with a previous run."""
    offered = [*IN_ORDER, *([CHANGES] if run_before(view) else [])]
    url.read(url.STATION, offered, GRAPH)
    chosen = st.segmented_control("Station", offered, key=url.STATION, label_visibility="collapsed")
    url.write(url.STATION)
    return chosen or GRAPH


def draw_station(view: View, segment: SegmentView, station: str, row: DeltaGenerator) -> None:
    """Draw one station; `row` is the container of the stations' row."""
    before = run_before(view)
    if station == CHANGES and before is not None:
        changes_station(before, view)
    elif station in WITH_BUTTON:
        WITH_BUTTON[station](view, segment, row)
    else:
        STATIONS[station](view, segment)
