"""Input and output types of a layout."""

from dataclasses import dataclass

Point = tuple[float, float]
Curve = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle to be placed; its size is in pixels."""

    id: str
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed connection between two boxes, by their ids."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class BoxPlace:
    """A box's top-left corner in pixels, y growing downwards."""

    id: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of boxes and edges, each in input order.

    An edge is a chain of cubic Béziers: a start point, then three points per piece (two controls and the end), from the
    border of its source to the border of its target. `engine` is "dot", "dot, limited" or "layered". `note` is empty,
    or a sentence for the screen on why a simpler engine was used.
    """

    boxes: tuple[BoxPlace, ...]
    edges: tuple[Curve, ...]
    width: float
    height: float
    engine: str
    note: str
