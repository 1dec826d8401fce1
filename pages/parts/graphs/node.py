"""The lines of code that a node of a graph comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from core.report import FxNode, Place
from pages.components.code.view import code_view
from pages.look.sizes import FILL
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.code import line_prefix, node_links, places_of, recorded_files, user_code
from pages.session import url
from pages.session.shown import View


def node_of(nodes: Iterable[FxNode], selected: str | None) -> FxNode | None:
    """Return the selected node; None if it is not one of `nodes`."""
    name = (selected or "").removeprefix("n:")
    return next((node for node in nodes if node.name == name), None)


def node_lines(view: View, nodes: Sequence[FxNode], node: FxNode | None, key: str) -> None:
    """Draw the file with the innermost line of a node, or of most nodes; the visitor can choose its callers' lines."""
    files = recorded_files(view, nodes)
    files.sort(key=lambda path: not (url.selected() or "").startswith(f"{line_prefix(view, path)}:"))
    stack = [place for place in reversed(places_of(node)) if place.file in files] if node else []
    paths = {_title(place): place.file for place in stack} or {_title(Place(path, 0)): path for path in files}
    if not paths:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return
    title = next(iter(paths))
    if len(paths) > 1:
        name = node.name if node else ""
        title = st.selectbox("Lines", list(paths), key=f"lines-{key}-{name}", label_visibility="collapsed") or title
    path = paths[title]
    picture = user_code(view, path=path, links=node_links(nodes, path), breaks=view.report.graph_breaks)
    if picture is not None:
        code_view(picture, key=f"user-{key}-{path}", height=FILL, selected=url.selected())


def _title(place: Place) -> str:
    """Return `modeling_llama.py:193 in forward`, or only the file's name."""
    if not place.line:
        return one_line(place.file.rsplit("/", 1)[-1], LONGEST_NAME)
    return one_line(f"{place.short} in {place.name}" if place.name else place.short, LONGEST_NAME)
