"""Boxes of graph breaks with their fixes, frames that run eagerly, and recompiles with their lineage."""

from __future__ import annotations

from functools import partial

import msgspec
import streamlit as st

from core.views.fixes import FixesView
from core.views.graph_breaks import BreakBox, GraphBreaksView
from core.views.recompiles import RecompileDetails, RecompilesView
from pages import menu
from pages.components.lineage.view import CompilationData, LineageData, lineage_view
from pages.look.text import plain
from pages.parts.dynamo.fixes import fixes_of, offer
from pages.session import url
from pages.session.navigate import go_to
from pages.session.presses import press, taken
from pages.session.shown import RunView


def broken_file(breaks: GraphBreaksView) -> str:
    """Let the visitor pick the file to show, by default the innermost logged file of the first break."""
    files = breaks.files
    labels = list(files)
    if len(labels) < 2:
        return next(iter(files.values()), "")
    return files[st.selectbox("File", labels, key="broken-file", label_visibility="collapsed") or labels[0]]


def break_box(number: int, box: BreakBox, view: RunView, fixes: FixesView) -> None:
    """Draw torch's reason, explanation and hints for one break, its cost, and its fixes."""
    offered = fixes.of_break(box.graph_break)
    with st.container(border=True, key=f"break-{number}"):
        st.markdown(box.heading)
        st.caption(box.caption)
        for sentence in box.given_up:
            st.warning(sentence, icon=":material/block:")
        st.markdown(box.line)
        if box.explanation:
            st.markdown(box.explanation)
        if box.hints:
            with st.expander("torch's hints", expanded=not offered):
                st.markdown(box.hints)
        if reason := fixes.without_fix(box.graph_break):
            st.caption(reason)
        offer(view, offered, key=f"break-{number}")
        _registry(box)
        with st.expander("Stack, the innermost frame first"):
            st.code(box.stack, language=None, wrap_lines=True)


def _registry(box: BreakBox) -> None:
    """Draw the entry of this kind of graph break in PyTorch's registry."""
    entry = box.registry
    if entry is None:
        return
    with st.expander(entry.label):
        if entry.heading:
            st.markdown(entry.heading)
            if entry.context:
                st.caption(entry.context)
            if entry.explanation:
                st.markdown(entry.explanation)
            st.markdown(entry.hints)
        st.caption(entry.origin)
        st.markdown(entry.link)


def eager_frames(breaks: GraphBreaksView) -> None:
    """Draw the frames that run eagerly without a graph break, such as those over the recompile limit."""
    for frame in breaks.eager_frames:
        with st.container(border=True):
            st.markdown(frame.heading)
            st.caption(frame.caption)


def recompile_trees(view: RunView, recompiles: RecompilesView, chosen: str) -> None:
    """Draw the tree of each recompiled function, and the chosen recompile below its tree; a click selects another."""
    for number, tree in enumerate(recompiles.trees(chosen)):
        if tree.similar:
            st.caption(tree.similar)
        picture = LineageData(
            name=tree.name,
            told=tree.summary,
            rows=msgspec.convert(tree.rows, tuple[CompilationData, ...], from_attributes=True),
            calls=recompiles.calls,
            legend=recompiles.legend,
            explained=recompiles.letters if number == 0 else "",
            chosen=chosen,
        )
        key = f"lineage-{number}"
        lineage_view(picture, key=key, on_pick=partial(press, key))
        clicked = taken(key)
        if clicked and clicked != chosen:
            go_to(menu.RECOMPILES, url.link(compilation=clicked, select=clicked))
        if tree.shown is not None:
            _details(tree.shown)
            if tree.shown.recompile is not None:
                offer(view, fixes_of(view).of_recompile(tree.shown.recompile), key=f"recompile-{chosen}")


def _details(details: RecompileDetails) -> None:
    """Draw one recompile in full."""
    with st.container(border=True, key=f"recompile-{details.id.replace('/', '-')}"):
        if not details.values:
            st.markdown(details.heading)
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(details.heading)
            _links(details)
        st.code(details.condition, language="python", wrap_lines=True)
        st.markdown(details.values)
        if details.hint:
            st.caption(details.hint)
        if details.error:
            st.warning(details.error, icon=":material/block:")
        if details.older:
            with st.expander(details.older_label):
                for text in details.older:
                    st.markdown(text)


def _links(details: RecompileDetails) -> None:
    search = {"guard": details.guard_search} if details.guard_search else {}
    query = {**url.link(**search), url.COMPILATION: details.failed}
    _link(menu.GUARDS, f"Guards of [{details.failed}]", query)
    _link(menu.FX_GRAPH, f"Graph of [{details.id}]", {**url.link(), url.COMPILATION: details.id})


def _link(page: menu.Page, label: str, query: dict[str, str]) -> None:
    st.page_link(page.script, label=plain(label), icon=page.icon, query_params=query)
