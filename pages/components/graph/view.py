"""Interactive graph: the browser pans, unfolds, searches and selects; Python gets the selection.

The browser owns the selection. The graph is sent once and stays byte-identical over reruns, since it does not contain
the state that a click changes (the selection, the film's frame). The browser fetches folded levels from the server's
routes. Python sends a selection (from a deep link or a table) through a second component of a few bytes, the command.
`serial` counts the user's own choices: the browser ignores a command that is older than the user's last click.
`picked` is its value at the last selection: Python sees a click even on an item that is already selected, and no click
in a report of the frame or of the colouring.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import streamlit as st

from core.views import wire
from pages.components.exchange import browser_value, component_script, ignore, message
from pages.components.graph.routes import GRAPHS, CommandData, PlaceData
from pages.look.text import component_key

HERE = Path(__file__).parent
SCRIPT = component_script(HERE / "js" / "view.js")
STYLE = (HERE / "view.css").read_text(encoding="utf-8")

_view = st.components.v2.component("compileboard_graph_view", js=SCRIPT, css=STYLE)
_command = st.components.v2.component("compileboard_graph_command", js=component_script(HERE / "js" / "command.js"))

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True, eq=False)
class GraphDrawing:
    """A graph's browser data, and the graph whose levels the browser may request; callers should cache it."""

    data: Mapping[str, Any]
    graph: wire.StoredGraph


@dataclass(frozen=True, slots=True)
class Chosen:
    """The user's choice: an item's id, the film's frame, and the overlay that colours the graph."""

    id: str | None
    frame: int | None
    overlay: str | None


def drawn(graph: wire.StoredGraph) -> GraphDrawing:
    """Return the drawing of a graph with its initial levels laid out."""
    return GraphDrawing(msgspec.to_builtins(wire.graph_data(graph)), graph)


def graph_view(
    graph: GraphDrawing,
    *,
    key: str,
    height: int,
    selected: str | None = None,
    channel: str = "compileboard",
    step: str = "",
    frame: int | None = None,
    overlay: str = "",
    outlined: tuple[str, ...] = (),
    tie: str = "",
    on_activate: Callable[[str], None] | None = None,
) -> Chosen:
    """Draw a graph, `height` pixels high, and return the user's choice in it.

    `selected` is the caller's selection (usually from the URL), `frame` the film's frame: each is applied when it
    is new or changed; otherwise the user's choice counts. A caller may pass back the returned values, for example
    through the URL: that is no new selection. `overlay` is the initial colouring, `outlined` are ids of outlined
    items, and `tie` is the text on the line between two of them. `on_activate` gets the id of a double-clicked node.
    Views with the same `channel` on a page highlight each other's related items without a rerun; views with the same
    `step` follow each other's pan, zoom and folds. If the server has dropped the graph, this call stores it again.
    """
    key = component_key(key)
    GRAPHS.keep(graph.graph)

    def activated() -> None:
        target = browser_value(key, "activated")
        if on_activate and target:
            on_activate(target)

    place = PlaceData(source=key, channel=channel, height=height, step=step, overlay=overlay)
    with st.container(gap=None):
        state = _view(
            key=key,
            data=[{**graph.data, **msgspec.to_builtins(place)}],
            default={"selected": selected, "serial": 0, "picked": 0, "frame": frame, "overlay": overlay or None},
            on_selected_change=ignore,
            on_serial_change=ignore,
            on_picked_change=ignore,
            on_frame_change=ignore,
            on_overlay_change=ignore,
            on_activated_change=activated,
            on_lost_change=ignore,
        )
        chosen = _newest(f"{key}-last", selected, (state.picked, state.selected), state.selected)
        reported = frame if state.frame is None else state.frame
        shown = _newest(f"{key}-last-frame", frame, reported, reported)
        command = CommandData(key, chosen, state.serial, shown, outlined, tie)
        _command(key=f"{key}-command", data=message(command))
    return Chosen(chosen, shown, state.overlay)


def _newest(memory: str, requested: Choice, reported: object, value: Choice) -> Choice:
    """Return the newer of the caller's value and the browser's report; the last result is not new."""
    last_request, last_result, last_report = st.session_state.get(memory, (requested, requested, reported))
    if requested not in (last_request, last_result):
        chosen = requested
    elif reported != last_report:
        chosen = value
    else:
        chosen = last_result
    st.session_state[memory] = (requested, chosen, reported)
    return chosen
