"""The recorded stages of a compilation's graphs: the groups that they form, and the meaning of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import streamlit as st

from core.base import words as fmt
from core.report import FxGraph, Stage
from pages.components.stages.view import Stop, Stretch, stages
from pages.session import url
from pages.session.memory import hold

# Stage → its label in the row of stages, and its description.
STAGES: dict[Stage, tuple[str, str]] = {
    "dynamo_output_graph": ("Dynamo", "what Dynamo captured"),
    "before_pre_grad_graph": ("pre-grad", "before the pre-grad passes"),
    "after_pre_grad_graph": ("pre-grad", "after the pre-grad passes"),
    "aot_joint_graph": ("joint", "forward and backward together, traced by AOTAutograd"),
    "aot_inference_graph": ("AOTAutograd", "what AOTAutograd made for inference"),
    "before_joint_graph": ("joint", "before the joint-graph passes"),
    "after_joint_graph": ("joint", "after the joint-graph passes"),
    "aot_forward_graph": ("forward", "the forward that AOTAutograd partitioned off"),
    "aot_backward_graph": ("backward", "the backward that AOTAutograd partitioned off"),
    "before_post_grad_graph": ("post-grad", "before the post-grad passes"),
    "inductor_post_grad_graph": ("post-grad", "after the post-grad passes"),
}
LANES = ("forward", "backward")


def first_graph(graphs: Sequence[FxGraph]) -> FxGraph:
    """Return the graph to show first: Dynamo's if it was recorded."""
    return next((graph for graph in graphs if graph.stage == "dynamo_output_graph"), graphs[0])


def stage_words(graph: FxGraph) -> str:
    """Describe the stage of a graph."""
    return STAGES[graph.stage][1] if graph.stage in STAGES else graph.stage


def stage_row(graphs: Sequence[FxGraph], chosen: FxGraph) -> None:
    """Draw the stages as a row of steps; a picked stage is stored for the URL."""
    with st.container(key="stages"):
        stages(stretches(graphs), chosen.id, key="stage-row", on_pick=partial(hold, url.GRAPH))


def stretches(graphs: Sequence[FxGraph]) -> tuple[Stretch, ...]:
    """Return the graphs in the compiler's order: first those of the forward, then those of the backward."""
    found: list[Stretch] = []
    before = 0
    for (lane, label), those in groupby(sorted(graphs, key=_lane), key=lambda graph: (_lane(graph), _label(graph))):
        stops = tuple(Stop(graph.id, fmt.number(graph.calls), stage_words(graph)) for graph in those)
        found.append(Stretch(label, stops, lane=lane > before > 0))
        before = lane
    return tuple(found)


def _lane(graph: FxGraph) -> int:
    return LANES.index(graph.direction) + 1 if graph.direction in LANES else 0


def _label(graph: FxGraph) -> str:
    return STAGES[graph.stage][0] if graph.stage in STAGES else graph.stage
