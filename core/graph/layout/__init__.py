"""Graph layout: positions for sized boxes, and curves for edges. Independent of FX and drawing."""

from core.base.errors import LayoutError
from core.graph.layout.ladder import lay_out
from core.graph.layout.layered import lay_out_layered
from core.graph.layout.model import Box, BoxPlace, Curve, Edge, Layout, Point

__all__ = ["Box", "BoxPlace", "Curve", "Edge", "Layout", "LayoutError", "Point", "lay_out", "lay_out_layered"]
