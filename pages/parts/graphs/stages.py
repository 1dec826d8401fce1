"""The row of a compilation's recorded graphs, from which the visitor picks one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.base import words as fmt
from core.report import FxGraph
from core.views.fx_graph import GraphStages
from pages.components.stages.view import Stop, Stretch, stages
from pages.session import url
from pages.session.memory import hold


def stage_row(graphs: Sequence[FxGraph], chosen: FxGraph) -> None:
    """Draw the stages as a row of steps; a picked stage is stored for the URL."""
    stretches = [
        Stretch(group.label, tuple(map(_stop, group.graphs)), group.starts_lane) for group in GraphStages(graphs).groups
    ]
    with st.container(key="stages"):
        stages(tuple(stretches), chosen.id, key="stage-row", on_pick=partial(hold, url.GRAPH))


def _stop(graph: FxGraph) -> Stop:
    return Stop(graph.id, fmt.number(graph.calls), GraphStages.describe(graph))
