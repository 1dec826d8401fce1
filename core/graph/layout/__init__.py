"""Graph layout: boxes with sizes and edges between them become positions and curves. Knows no FX and no drawing."""

from core.base.errors import LayoutError
from core.graph.layout.ladder import lay_out
from core.graph.layout.layered import lay_out_layered
from core.graph.layout.model import Box, Curve, Edge, Layout, Placed, Point

__all__ = ["Box", "Curve", "Edge", "Layout", "LayoutError", "Placed", "Point", "lay_out", "lay_out_layered"]
