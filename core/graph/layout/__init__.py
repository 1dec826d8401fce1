"""Graph layout: positions for sized boxes, and curves for edges. Independent of FX and drawing."""

from core.base.errors import LayoutError
from core.graph.layout.ladder import lay_out
from core.graph.layout.layered import lay_out_layered
from core.graph.layout.model import Box, Curve, Edge, Layout, Placed, Point

__all__ = ["Box", "Curve", "Edge", "Layout", "LayoutError", "Placed", "Point", "lay_out", "lay_out_layered"]
