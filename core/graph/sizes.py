"""Size of a box for its text, in pixels."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from core.base.words import count
from core.graph.model import Group, Node

LABEL_PX_PER_CHAR = 7.2
SMALL_PX_PER_CHAR = 6.6
CHIP_PX_PER_CHAR = 6.0
LEAST_WIDTH, MOST_WIDTH = 64.0, 264.0
PADDING_X, PADDING_Y = 11.0, 6.0
LABEL_HEIGHT, DETAIL_HEIGHT, ROW_HEIGHT, CHIPS_HEIGHT = 18.0, 15.0, 18.0, 21.0
ROW_INSET, ROW_TEXT, CHIP_PADDING, CHIP_GAP = 8.0, 10.0, 5.0, 4.0
ROW_DOT, ROWS_TOP = 12.0, 3.0
FOLD_SIGN = 18.0
MOST_FACTS, FACT_CHARS = 2, 8

METRICS: Mapping[str, float] = {
    "labelChar": LABEL_PX_PER_CHAR,
    "smallChar": SMALL_PX_PER_CHAR,
    "chipChar": CHIP_PX_PER_CHAR,
    "padX": PADDING_X,
    "padY": PADDING_Y,
    "label": LABEL_HEIGHT,
    "detail": DETAIL_HEIGHT,
    "row": ROW_HEIGHT,
    "chips": CHIPS_HEIGHT,
    "rowInset": ROW_INSET,
    "rowText": ROW_TEXT,
    "chipPad": CHIP_PADDING,
    "chipGap": CHIP_GAP,
    "foldSign": FOLD_SIGN,
}


def node_size(node: Node) -> tuple[float, float]:
    """Return the width and height of a node's box; text longer than the widest box is cut by the drawing."""
    widest = max(len(node.label) * LABEL_PX_PER_CHAR, len(node.detail) * SMALL_PX_PER_CHAR)
    height = 2 * PADDING_Y + LABEL_HEIGHT + DETAIL_HEIGHT * bool(node.detail)
    if node.chips:
        widest = max(widest, _chips_width(node.chips))
        height += CHIPS_HEIGHT
    if node.rows:
        text = max(len(row.label + row.detail) for row in node.rows)
        widest = max(widest, text * SMALL_PX_PER_CHAR + 2 * ROW_TEXT + ROW_DOT)
        height += ROWS_TOP + ROW_HEIGHT * len(node.rows)
    return _width(widest), ceil(height)


def group_size(group: Group) -> tuple[float, float]:
    """Return the width and height of a folded group: label, unfold sign, detail, count, and a few facts."""
    below = f"{group.detail} · {count(group.count, 'op')}"
    facts = [fact for fact in group.facts if fact.unit][:MOST_FACTS]
    widest = max(len(group.label) * LABEL_PX_PER_CHAR + FOLD_SIGN, len(below) * SMALL_PX_PER_CHAR)
    widest = max([widest, *((len(fact.name) + FACT_CHARS) * SMALL_PX_PER_CHAR for fact in facts)])
    return _width(widest), ceil(2 * PADDING_Y + LABEL_HEIGHT + DETAIL_HEIGHT * (1 + len(facts)))


def _width(text: float) -> float:
    return ceil(min(max(text + 2 * PADDING_X, LEAST_WIDTH), MOST_WIDTH))


def _chips_width(chips: tuple[str, ...]) -> float:
    return sum(len(chip) * CHIP_PX_PER_CHAR + 2 * CHIP_PADDING + CHIP_GAP for chip in chips)
