"""A flame chart: spans of time by depth, with zoom, pan, search and selection in the browser.

The browser owns the selection, so that the sent data stays the same over reruns; a choice comes back by its id.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import browser_value, component_script, first_wish, ignore, message
from pages.look.text import component_key

HERE = Path(__file__).parent
MOST_SPANS = 20_000  #: limit: slices drawn of a profile
# A range of time in microseconds, and of rows, both ends included.
FlameArea = tuple[float, float, int, int]

_COMPONENT = st.components.v2.component(
    "compileboard_flame",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "js" / "view.js"),
)


class FlameSpan(msgspec.Struct, frozen=True, array_like=True):
    """A span of time; all times are whole microseconds, `begin_us` since the chart's first span.

    `name` and `owner` are indexes of the chart's names and owners. `own_us` is the self time. `thread` is 0 for
    the thread whose spans nest.
    """

    id: str
    name: int
    owner: int
    begin_us: int
    length_us: int
    own_us: int
    row: int
    thread: int


class FlameName(msgspec.Struct, frozen=True):
    """The name of one or more spans; `kind` selects the colour of these spans.

    A span shows the links that are both in its name's `links` and in its owner's `links`.
    """

    text: str
    kind: str
    links: tuple[str, ...]


class FlameOwner(msgspec.Struct, frozen=True):
    """The owner of spans: its id, title and total seconds, and the names of its available links."""

    id: str
    title: str
    whole_s: float
    links: tuple[str, ...]


class FlameLegend(msgspec.Struct, frozen=True):
    """A kind's colour on light and on dark background, and its label."""

    light: str
    dark: str
    label: str


class FlamePicture(msgspec.Struct, frozen=True):
    """The data of a flame graph.

    `noun` is the word for a span: "phase" or "slice". `rows` is the number of rows of nested spans, and
    `threads` the number of rows below them, which show other threads. `links` has the label of each link.
    """

    noun: str

    spans: tuple[FlameSpan, ...]
    names: tuple[FlameName, ...]
    owners: tuple[FlameOwner, ...]
    rows: int
    threads: int
    length_us: int
    legend: dict[str, FlameLegend]
    links: dict[str, str]


class FlameData(FlamePicture, frozen=True):
    """The message to the browser: the chart's data, and its initial selection of a span and an area.

    `areas` is True if areas can be selected.
    """

    initial: str | None
    area: FlameArea | None
    areas: bool


@dataclass(frozen=True, slots=True)
class FlameChoice:
    """The visitor's choice: the id of a span, and an area."""

    selected: str | None = None
    area: FlameArea | None = None


def flame(
    picture: FlamePicture,
    *,
    key: str,
    on_open: Callable[[tuple[str, str]], None],
    selected: str | None = None,
    area: FlameArea | None = None,
    areas: bool = False,
) -> FlameChoice:
    """Draw a flame chart, and return the visitor's selection.

    `selected` and `area` are the initial selection. A selected span that isn't in the chart is dropped.
    `on_open` gets a clicked link with its owner before the page runs again. If `areas` is True, areas can be
    selected.
    """
    key = component_key(key)

    def opened() -> None:
        link = _opened(browser_value(key, "opened"), picture)
        if link is not None:
            on_open(link)

    chosen, marked = first_wish(key, (selected, area))
    data = FlameData(**msgspec.structs.asdict(picture), initial=chosen, area=marked, areas=areas)
    result = _COMPONENT(
        key=key,
        data=message(data),
        default={"selected": selected, "area": area},
        on_selected_change=ignore,
        on_area_change=ignore,
        on_opened_change=opened,
    )
    known = {span.id for span in picture.spans}
    return FlameChoice(result.selected if result.selected in known else None, _area(result.area))


def _area(message: object) -> FlameArea | None:
    """Return the browser's message as an area; None if it is invalid."""
    try:
        from_us, to_us, first, last = msgspec.convert(message, FlameArea)
    except msgspec.ValidationError:
        return None
    return (from_us, to_us, first, last) if 0 <= from_us < to_us and 0 <= first <= last else None


def _opened(message: object, picture: FlamePicture) -> tuple[str, str] | None:
    """Return the link and the owner if the picture has both, otherwise None."""
    link, owner = message if isinstance(message, Sequence) and len(message) == 2 else ("", "")
    return (link, owner) if link in picture.links and owner in {item.id for item in picture.owners} else None
