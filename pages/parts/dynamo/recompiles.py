"""Recompiles of a frame: the tree of all, and one recompile in full."""

from __future__ import annotations

import msgspec
import streamlit as st

from core.views.recompiles import RecompileDetails, RecompilesView
from pages import menu
from pages.components.lineage.view import CompilationData, LineageData, lineage_view
from pages.look.text import plain
from pages.parts.dynamo.fixes import fixes_of, offer
from pages.session import url
from pages.session.navigate import go_to
from pages.session.shown import RunView


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
        clicked = lineage_view(picture, key=f"lineage-{number}")
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
