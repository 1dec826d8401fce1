"""Compiler graphs for display: nodes in nested groups, laid out level by level, searched and exported."""

from core.graph.assemble import SMALL
from core.graph.fusion import FusionStep, fusion_frames
from core.graph.fx import CHANGES, DIFFERENCE, film_model, fx_model, union_model
from core.graph.index import index_of
from core.graph.levels import (
    METRICS,
    MOST_NEAR,
    Hit,
    as_dot,
    as_json,
    between,
    digest,
    find,
    level,
    levels_below,
    neighbourhood,
    search,
)
from core.graph.model import (
    TOP,
    Edge,
    Fact,
    Frames,
    GraphModel,
    Group,
    Item,
    Level,
    LevelEdge,
    Node,
    Overlay,
    Row,
    Version,
)
from core.graph.overlays import SEGMENT, annotation_name, annotations_of
from core.graph.recorded import divided_graph, kernels_of, recorded_model, source_path
from core.graph.schedule import after_model, before_model

__all__ = [
    "CHANGES",
    "DIFFERENCE",
    "METRICS",
    "MOST_NEAR",
    "SEGMENT",
    "SMALL",
    "TOP",
    "Edge",
    "Fact",
    "Frames",
    "FusionStep",
    "GraphModel",
    "Group",
    "Hit",
    "Item",
    "Level",
    "LevelEdge",
    "Node",
    "Overlay",
    "Row",
    "Version",
    "after_model",
    "annotation_name",
    "annotations_of",
    "as_dot",
    "as_json",
    "before_model",
    "between",
    "digest",
    "divided_graph",
    "film_model",
    "find",
    "fusion_frames",
    "fx_model",
    "index_of",
    "kernels_of",
    "level",
    "levels_below",
    "neighbourhood",
    "recorded_model",
    "search",
    "source_path",
    "union_model",
]
