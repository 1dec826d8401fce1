"""Linked boxes: chips, the stages of a graph, steps joined by arrows, and a tree of compilations."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from core.views.wire import RecompileRow
from pages.components.exchange import component, message, when_picked

Tone = Literal["", "ok", "warn", "bad", "live", "quiet"]
Pick = Callable[[str], None]
_COMPONENT = component(Path(__file__).parent)


@dataclass(frozen=True, slots=True)
class Chip:
    """A fact in the header: a value in the code font, its label, and its page; no link if `page` is empty.

    With `closes`, the name of its close button, the chip has such a button, and a click picks `CLOSED`. A chip that
    `copies` is a button that copies the address of the page.
    """

    value: str
    label: str = ""
    tone: Tone = ""
    page: str = ""
    tooltip: str = ""
    closes: str = ""
    copies: bool = False


# The id that the close button of a chip picks.
CLOSED = "closed"


class ChipsData(msgspec.Struct, frozen=True):
    """The message to the browser: chips in a row."""

    chips: tuple[Chip, ...]
    kind: Literal["chips"] = "chips"


@dataclass(frozen=True, slots=True)
class Stop:
    """A graph of the row: its id, its op count as text, and its tooltip."""

    id: str
    count: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Graphs that belong together, such as the graphs before and after some passes.

    A new `lane` starts a new row.
    """

    label: str
    stops: tuple[Stop, ...]
    lane: bool = False


class StagesData(msgspec.Struct, frozen=True):
    """The message to the browser: the graphs by stretch, and the selected one."""

    stretches: tuple[Stretch, ...]
    chosen: str
    kind: Literal["stages"] = "stages"


@dataclass(frozen=True, slots=True)
class WayStage:
    """A step in the picture: the function called there, a number with unit, and a line on the result."""

    id: str
    title: str
    call: str
    state: Literal["done", "failed", "not reached"]
    figure: str
    told: str


class WayData(msgspec.Struct, frozen=True):
    """The message to the browser: the boxes by column, from top to bottom."""

    columns: tuple[tuple[WayStage, ...], ...]
    chosen: str
    kind: Literal["way"] = "way"


class LineageData(msgspec.Struct, frozen=True):
    """The message to the browser: a frame's name, a text about all its compilations, and the compilations.

    `calls` are the inputs of each call as text. `legend` names each letter of `RecompileRow.calls`; those in
    `explained` are listed below the tree.
    """

    name: str
    told: str
    rows: tuple[RecompileRow, ...]
    calls: tuple[str, ...]
    legend: dict[str, str]
    explained: str
    chosen: str
    kind: Literal["lineage"] = "lineage"


def chips(items: list[Chip], *, key: str, on_pick: Pick) -> None:
    """Show short facts in a row, each with a link; `on_pick` gets the page of a clicked chip, or `CLOSED`."""
    _show(ChipsData(tuple(items)), {CLOSED, *(chip.page for chip in items if chip.page)}, key, on_pick)


def stages(stretches: tuple[Stretch, ...], chosen: str, *, key: str, on_pick: Pick) -> None:
    """Show a graph's stages in order; a click or an arrow key picks the id of one."""
    ids = {stop.id for stretch in stretches for stop in stretch.stops}
    _show(StagesData(stretches, chosen), ids, key, on_pick)


def way(columns: tuple[tuple[WayStage, ...], ...], chosen: str, *, key: str, on_pick: Pick) -> None:
    """Show steps as boxes joined by arrows, each with its call, its time and its outcome."""
    _show(WayData(columns, chosen), {stage.id for column in columns for stage in column}, key, on_pick)


def lineage_view(data: LineageData, *, key: str, on_pick: Pick) -> None:
    """Show a frame's compilations as a tree, each with its cause and a strip with one cell per call."""
    _show(data, {row.id for row in data.rows}, key, on_pick)


def _show(data: ChipsData | StagesData | WayData | LineageData, ids: Collection[str], key: str, on_pick: Pick) -> None:
    """Show boxes; `on_pick` gets the id of a picked box before the page runs again."""
    _COMPONENT(key=key, data=message(data), on_picked_change=when_picked(key, "picked", ids, on_pick))
