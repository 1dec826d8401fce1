"""Details of a node in the drawer, and the lines of code that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import streamlit as st

from core.analysis import guards_on
from core.analysis.numerics import node_words
from core.base import words as fmt
from core.report import Compilation, FxNode, GraphNumerics, Guard, Kernel, Place
from pages.components.code.view import code_view
from pages.look.sizes import FILL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line
from pages.parts.code import node_links, places_of, recorded_files, user_code
from pages.session import url
from pages.session.view import View

MOST_GUARDS = 8
MOST_USERS = 12


def node_of(nodes: Iterable[FxNode], selected: str | None) -> FxNode | None:
    """Return the selected node; None if it is not among these."""
    name = (selected or "").removeprefix("n:")
    return next((node for node in nodes if node.name == name), None)


def node_lines(view: View, nodes: Sequence[FxNode], node: FxNode | None, key: str) -> None:
    """Draw the file with the innermost line of a node, or of most nodes; the visitor can choose the lines
    that call it.
    """
    files = recorded_files(view, nodes)
    stack = [place for place in reversed(places_of(node)) if place.file in files] if node else []
    words = {_title(place): place.file for place in stack} or {_title(Place(path, 0)): path for path in files}
    if not words:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return
    chosen = next(iter(words))
    if len(words) > 1:
        name = node.name if node else ""
        chosen = st.selectbox("Lines", list(words), key=f"lines-{key}-{name}", label_visibility="collapsed") or chosen
    path = words[chosen]
    picture = user_code(view, path=path, links=node_links(nodes, path), breaks=view.report.graph_breaks)
    if picture is not None:
        code_view(picture, key=f"user-{key}-{path}", height=FILL, selected=url.selected())


def _title(place: Place) -> str:
    """Return `modeling_llama.py:193 in forward`, or the file's name alone."""
    if not place.line:
        return one_line(place.file.rsplit("/", 1)[-1], LONGEST_NAME)
    return one_line(f"{place.short} in {place.name}" if place.name else place.short, LONGEST_NAME)


def node_details(
    compilation: Compilation,
    nodes: Sequence[FxNode],
    node: FxNode,
    kernels: Sequence[Kernel],
    lowered: bool,
    numerics: GraphNumerics | None = None,
) -> None:
    """Draw all facts about a node; missing facts are left out, with a note if another stage has them."""
    users = [found.name for found in nodes if node.name in found.inputs]
    more = f" and {fmt.number(len(users) - MOST_USERS)} more" if len(users) > MOST_USERS else ""
    rows = {
        "name": f"{code(node.name)} {node.op}",
        "target": code(node.target),
        "value": code(_value(node)) or "not a tensor",
        "arguments": code(node.args, LONGEST_TEXT),
        "users": ", ".join(code(user) for user in users[:MOST_USERS]) + more,
        "line": f"{code(node.code)} at {code(node.source.short)}" if node.source else "not recorded",
        "module": f"{code(node.module)} {code(node.module_class)}".strip() or "not recorded for this stage",
        "kernel": ", ".join(code(kernel.name) for kernel in kernels)
        or ("none" if lowered else "known on the post-grad graph"),
        "symbols": _symbols(compilation, node),
        "guards": _guards(compilation, node),
        "against float64": node_words(numerics, node.name) if numerics else "",
    }
    st.table({name: words for name, words in rows.items() if words}, border="horizontal")


def _value(node: FxNode) -> str:
    if node.meta is None:
        return ""
    shape, stride = ", ".join(node.meta.shape), ", ".join(node.meta.stride)
    return f"{node.meta.dtype}[{shape}][{stride}]{node.meta.device}"


def _symbols(compilation: Compilation, node: FxNode) -> str:
    """Draw the dynamic sizes in a node's shape, with their meaning."""
    sizes = re.findall(r"\w+", " ".join(node.meta.shape)) if node.meta else []
    found = [symbol for symbol in compilation.symbols if symbol.name in sizes]
    return "; ".join(f"{code(item.name)} = {code(item.source)}, first {code(item.value)}" for item in found)


def _guards(compilation: Compilation, node: FxNode) -> str:
    """Draw the guards on the value of an input of the Dynamo graph."""
    if node.op not in ("placeholder", "get_attr"):
        return ""
    found = guards_on(compilation, node)
    more = f" and {fmt.number(len(found) - MOST_GUARDS)} more" if len(found) > MOST_GUARDS else ""
    return ", ".join(map(_guard, found[:MOST_GUARDS])) + more or "none that names it"


def _guard(guard: Guard) -> str:
    return code(f"{guard.kind} {guard.expression}", LONGEST_LINE)
