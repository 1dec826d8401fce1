"""Edges as chains of cubic Béziers that leave a box at its bottom and arrive at the top."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.graph.layout.model import Box, Curve, Point

LANE_DISTANCE = 14.0
LANES = 12
LANE_PITCH = 5.0


class Reach:
    """Maximum of any range of values in constant time; stores the maximum of each power-of-two range."""

    __slots__ = ("_levels",)

    def __init__(self, values: Sequence[float]) -> None:
        self._levels = [list(values)]
        step = 1
        while 2 * step <= len(values):
            last = self._levels[-1]
            self._levels.append([max(pair) for pair in zip(last, last[step:], strict=False)])
            step *= 2

    def largest(self, first: int, last: int) -> float:
        """Return the maximum of the values `first` to `last`, both included."""
        level = (last - first + 1).bit_length() - 1
        return max(self._levels[level][first], self._levels[level][last + 1 - (1 << level)])


@dataclass(frozen=True, slots=True)
class Bands:
    """Layers as horizontal bands: their top, middle, bottom, and horizontal extent."""

    top: list[float]
    middle: list[float]
    bottom: list[float]
    left: Reach
    right: Reach

    @classmethod
    def of(
        cls, layers: list[list[int]], x: list[float], widths: list[float], heights: list[float], gap: float
    ) -> "Bands":
        """Stack the layers; nodes without a height (bends) take none."""
        left = Reach([widths[layer[0]] / 2 - x[layer[0]] for layer in layers])
        right = Reach([x[layer[-1]] + widths[layer[-1]] / 2 for layer in layers])
        bands = cls([], [], [], left, right)
        y = 0.0
        for layer in layers:
            height = max((heights[node] for node in layer if node < len(heights)), default=0.0)
            bands.top.append(y)
            bands.middle.append(y + height / 2)
            bands.bottom.append(y + height)
            y += height + gap
        return bands


def bent(chain: Sequence[int], rank: list[int], x: list[float], boxes: Sequence[Box], bands: Bands) -> Curve:
    """Return the curve through a chain of bends: vertical inside every layer, curved between layers."""
    source, target = chain[0], chain[-1]
    stops: list[Point] = [(x[source], bands.middle[rank[source]] + boxes[source].height / 2)]
    stops.append((x[source], bands.bottom[rank[source]]))
    for bend in chain[1:-1]:
        stops += [(x[bend], bands.top[rank[bend]]), (x[bend], bands.bottom[rank[bend]])]
    stops.append((x[target], bands.top[rank[target]]))
    stops.append((x[target], bands.middle[rank[target]] - boxes[target].height / 2))
    return _smooth(stops)


def in_lane(source: int, target: int, rank: list[int], x: list[float], boxes: Sequence[Box], bands: Bands) -> Curve:
    """Return a curve around all layers in between, on the nearer side: for edges too long for bends."""
    first, last = rank[source], rank[target]
    left, right = -bands.left.largest(first, last), bands.right.largest(first, last)
    shift = LANE_DISTANCE + first % LANES * LANE_PITCH
    to_left = x[source] + x[target] - 2 * left < 2 * right - x[source] - x[target]
    lane = left - shift if to_left else right + shift
    return _smooth(
        [
            (x[source], bands.middle[first] + boxes[source].height / 2),
            (x[source], bands.bottom[first]),
            (lane, bands.top[first + 1]),
            (lane, bands.bottom[last - 1]),
            (x[target], bands.top[last]),
            (x[target], bands.middle[last] - boxes[target].height / 2),
        ]
    )


def loop(x: float, middle: float, box: Box, reach: float) -> Curve:
    """Return the curve from a box's right side back to the box."""
    side, rise = x + box.width / 2, min(box.height / 4, 12.0)
    return _rounded(
        [(side, middle - rise), (side + reach, middle - rise), (side + reach, middle + rise), (side, middle + rise)]
    )


def mirrored(curve: Curve) -> Curve:
    """Return the same curve in the opposite direction."""
    return curve[::-1]


def moved(curve: Curve, across: float, down: float) -> Curve:
    """Return the curve moved by an offset, rounded to a tenth of a pixel."""
    return _rounded((x + across, y + down) for x, y in curve)


def _rounded(points: Iterable[Point]) -> Curve:
    return tuple((round(x, 1), round(y, 1)) for x, y in points)


def _smooth(stops: Sequence[Point]) -> Curve:
    """Return a chain of Béziers between the stops with vertical ends; stops on one vertical line are merged."""
    bends = [stops[0]]
    for index, stop in enumerate(stops[1:], start=1):
        if stop == bends[-1]:
            continue
        ahead = stops[index + 1] if index + 1 < len(stops) else None
        if ahead is not None and bends[-1][0] == stop[0] == ahead[0]:
            continue
        bends.append(stop)
    points = [bends[0]]
    for (x0, y0), (x1, y1) in pairwise(bends):
        middle = (y0 + y1) / 2
        points += [(x0, middle), (x1, middle), (x1, y1)]
    return tuple(points)
