"""The interactive graph: pan, zoom, search and select in the browser, the selection returned to Python.

The browser owns the selection. The picture is sent once and stays byte-identical over reruns, since what changes with
a click (the selection) never travels with it. What Python wants selected, from a deep link or from a table, goes
through a second component of a few bytes, the command. `serial` counts the user's own selections: the browser ignores
a command that was written before the user's last click, and Python sees a click even on what it believed selected.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.components.palette import OP_CLASSES
from pages.components.picture import GraphPicture, PictureEdge, PictureNode, Row, as_data, place
from pages.components.text import component_key

__all__ = ["GraphPicture", "PictureEdge", "PictureNode", "Row", "graph_view", "place"]

HERE = Path(__file__).parent
SCRIPTS = ("graph_scene.js", "graph_camera.js", "graph_search.js", "graph_export.js", "graph_view.js")
CLASSES = {name: colour.label for name, colour in OP_CLASSES.items()}

_view = st.components.v2.component(
    "compileboard_graph_view",
    js="\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    css=(HERE / "graph_view.css").read_text(encoding="utf-8"),
)
_command = st.components.v2.component(
    "compileboard_graph_command", js=(HERE / "graph_command.js").read_text(encoding="utf-8")
)


def graph_view(
    graph: GraphPicture,
    *,
    key: str,
    height: int = 560,
    selected: str | None = None,
    channel: str = "compileboard",
    on_activate: Callable[[str], None] | None = None,
) -> str | None:
    """Draw a placed graph, `height` pixels high, and return the id of the selected node or row.

    `selected` is what the caller wants selected (usually the URL's): it is obeyed, and brought into view, when it first
    comes and whenever it changes; between that the user's clicks count. A caller may hand back what was returned (by
    way of the URL, say): that is no new wish. `on_activate` gets the id of a double-clicked item. Views with the same
    `channel` on a page light up each other's related items without a rerun.
    """
    key = component_key(key)

    def activated() -> None:
        target = st.session_state[key].get("activated")
        if on_activate and target:
            on_activate(target)

    data = {"picture": as_data(graph), "channel": channel, "source": key, "height": height, "classes": CLASSES}
    with st.container(gap=None):
        state = _view(
            key=key,
            data=data,
            default={"selected": selected, "serial": 0},
            on_selected_change=_nothing,
            on_serial_change=_nothing,
            on_activated_change=activated,
        )
        chosen = _chosen(key, selected, (state.serial, state.selected))
        _command(key=f"{key}-command", data={"source": key, "id": chosen, "serial": state.serial})
    return chosen


def _chosen(key: str, selected: str | None, reported: tuple[int, str | None]) -> str | None:
    """The newest of the caller's wish and the browser's report; a caller who echoes the last answer wishes nothing."""
    memory = f"{key}-last"
    asked, answered, heard = st.session_state.get(memory, (selected, selected, reported))
    if selected not in (asked, answered):
        chosen = selected
    elif reported != heard:
        chosen = reported[1]
    else:
        chosen = answered
    st.session_state[memory] = (selected, chosen, reported)
    return chosen


def _nothing() -> None:
    """A declared state key needs a callback, and there is nothing to do."""
