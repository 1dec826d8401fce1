"""Drawers beside drawings: of an FX graph's node and text, of passes, of fusion, and of captures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from core.report import FxGraph, Kernel
from core.views import capture
from core.views.fusion import FusionView
from core.views.fx_graph import FxGraphView
from core.views.passes import PartitionView, PassesView
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.graph.view import GraphDrawing
from pages.look.palette import FILL, MAX_CHARS, SHORT, TALL
from pages.look.text import LONGEST_NAME, code
from pages.parts.code import drawer, output_code, stage
from pages.parts.graphs.drawn import captures_drawn, film_drawn, fusion_drawn, fx_drawn, node_lines, node_of, show
from pages.parts.kernels.source import kernel_source, user_lines
from pages.session import url
from pages.session.shown import View
from pages.session.tables import draw, newly_picked_row
from pages.session.url import go_to, press, set_state, state_of, taken

NODE, GENERATED, INPUTS, TEXT = "node", "generated code", "inputs and results", "graph text"


def tabs(fx: FxGraphView) -> list[str]:
    """Return the tabs that the drawer has for a graph."""
    return [NODE, *([GENERATED] if fx.first_kernel else []), *([INPUTS] if fx.metadata else []), TEXT]


def fill_drawer(view: View, fx: FxGraphView, tab: str, selected: str | None) -> None:
    if tab == TEXT:
        _text(view, fx)
        return
    if tab == INPUTS and fx.metadata:
        inputs = fx.inputs(view.text(fx.metadata))
        st.markdown(inputs.title)
        st.dataframe(inputs.input_rows, hide_index=True)
        st.dataframe(inputs.output_rows, hide_index=True)
        return
    if tab == GENERATED and fx.first_kernel:
        picture = output_code(view, fx.first_kernel, fx.own_lines)
        code_view(picture, key=f"generated-{fx.compilation.id}-{fx.graph.id}", height=FILL)
        return
    node = node_of(fx.nodes, selected)
    if node is not None:
        mapped = fx.mapped_nodes(view.text(fx.node_map), node.name) if fx.node_map else {}
        st.table(fx.node_rows(node) | mapped, border="horizontal")
    elif selected and selected.startswith("n:"):
        st.caption(fx.missing_node(selected))
    node_lines(view, fx.nodes, node, f"{fx.compilation.id}-{fx.graph.id}")


def _text(view: View, fx: FxGraphView) -> None:
    text = view.text(fx.graph.payload)
    lines = code_lines(text.removeprefix("\n"), prefix="t", links=fx.text_links(text))
    picture = CodePicture(fx.graph.id, "python", lines)
    code_view(picture, key=f"text-{fx.compilation.id}-{fx.graph.id}", height=FILL)


def unparsed(view: View, graph: FxGraph) -> None:
    """Draw the text of a graph that could not be parsed, and a warning.

    The text is drawn in the code view, which cuts extremely long lines.
    """
    st.warning(FxGraphView.unparsed)
    text = view.text(graph.payload)
    if len(text) > MAX_CHARS:
        st.caption(FxGraphView.cut_text(MAX_CHARS, len(text)))
    picture = CodePicture(graph.id, "python", code_lines(text[:MAX_CHARS], prefix="t"))
    code_view(picture, key=f"unparsed-{view.compilation.id}-{graph.id}", height=TALL)


STEPS = "steps"


def film(view: View, passes: PassesView) -> None:
    """Draw the film of the passes, and the drawer beside it."""
    name = f"{view.compilation.id}-{passes.id}"
    place = stage()
    with place.container(key="drawing"):
        chosen = show(film_drawn(view, passes), f"film-{name}", frame=shown_step(passes, url.number(url.FRAME)))
    step = shown_step(passes, chosen.frame)
    with drawer(place, [NODE, STEPS], chosen.id) as tab:
        if tab == NODE:
            node_after(view, passes, step, chosen.id)
        elif tab == STEPS:
            draw(passes.steps(step))


def shown_step(passes: PassesView, frame: int | None) -> int:
    """Return the selected step and write it to the URL; defaults to the last step."""
    step = passes.last if frame is None or frame > passes.last else frame
    url.put(url.FRAME, None if step == passes.last else str(step))
    return step


def node_after(view: View, passes: PassesView, step: int, selected: str | None) -> None:
    """Draw the details of the selected node in the graph after `step`, and its source lines."""
    nodes = passes.nodes(step)
    node = node_of(nodes, selected)
    if node is None:
        st.caption(passes.no_node(selected))
        return
    st.table(passes.node_rows(step, node), border="horizontal")
    node_lines(view, nodes, node, f"{view.compilation.id}-{passes.id}")


VALUE, SAVED = "value", "saved values"


def joint_graph(view: View, partition: PartitionView, graph: FxGraph | None) -> None:
    """Draw a joint graph with the partitioner's decisions, and the drawer beside it."""
    name = f"{view.compilation.id}-{partition.partition.graph}"
    place, selected, nodes = stage(), url.selected(), tuple(partition.nodes.values())
    if graph is not None and nodes:
        with place.container(key="drawing"):
            selected = show(fx_drawn(view, graph), f"joint-{name}", overlay="partition", graph=graph.id).id
    else:
        place.caption(partition.no_graph)
    with drawer(place, [VALUE, SAVED], selected) as tab:
        if tab == VALUE:
            node = node_of(nodes, selected)
            if node is None:
                st.caption(partition.no_node)
            else:
                st.table(partition.node_rows(node), border="horizontal")
            node_lines(view, nodes, node, name)
        elif tab == SAVED:
            draw([partition.table])


KERNEL, WHY, IR = "kernel", "why not fused", "IR"
OPENED, PAIRED, PICKED = "fusion-opened", "fusion-paired", "fusion-picked"
# Keys of the two nodes in the drawer.
FIRST, SECOND = "why-one", "why-other"


def draw_fusion(view: View, index: int, fusion: FusionView) -> str | None:
    """Draw a graph's fusion, with a slider from the ops to the launches.

    The launches of the drawer's pair are outlined, until another is selected. Return the selected id, None without one.
    """
    picture, name = fusion_drawn(view, index, fusion), f"fusion-{view.compilation.id}-{index}"
    if names := taken(PICKED):
        _choose(names)
    pair_before, selected_before = state_of(PAIRED, ((), None))
    pair = fusion.chosen_pair(state_of(FIRST), state_of(SECOND)) if url.asked(url.DRAWER) == WHY else ()
    chosen = show(
        picture,
        name,
        frame=_frame(picture),
        graph=fusion.graph_id,
        outlined=fusion.hulls(*pair),
        tie=fusion.tie(*pair),
        on_activate=partial(_activated, fusion),
    )
    _keep_frame(picture, chosen.frame)
    if pair and pair == pair_before and chosen.id not in (None, selected_before):
        url.put(url.DRAWER, None)
        set_state(PAIRED, ((), chosen.id))
        st.rerun()
    set_state(PAIRED, (pair, chosen.id))
    return chosen.id


def draw_both(view: View, index: int, fusion: FusionView) -> str | None:
    """Draw the fusion twice, beside each other; return the selected id, None without one.

    The left view begins with the ops, the right one with the launches. They have one camera and the same folds, and a
    selection in one is marked in the other.
    """
    whole, name = fusion_drawn(view, index), f"{view.compilation.id}-{index}"
    # The two views have the same height, without the largest launches.
    picture = replace(whole, data={**whole.data, "largest": ()})
    opened = partial(_activated, fusion)
    # A view keeps its own selection while the URL has that of either view.
    last, selected = state_of("fusion-selections", (None, None)), url.selected()
    own = last if selected and selected in last else (selected, selected)
    left, right = st.columns(2, gap="small")
    with left:
        left_choice = show(picture, f"before-{name}", step=name, own=own[0], frame=0, on_activate=opened)
    with right:
        frame = _frame(picture)
        right_choice = show(picture, f"after-{name}", step=name, own=own[1], frame=frame, on_activate=opened)
    _keep_frame(picture, right_choice.frame)
    newest = _newest(left_choice.id, right_choice.id)
    if newest != selected and url.select(newest, fusion.graph_id):
        st.rerun()
    return newest


def _frame(picture: GraphDrawing) -> int:
    """Return the frame in the URL, by default the last one."""
    last = len(picture.data["frames"]) - 1
    requested = url.number(url.FRAME)
    return last if requested is None else min(requested, last)


def _keep_frame(picture: GraphDrawing, frame: int | None) -> None:
    url.put(url.FRAME, None if frame == len(picture.data["frames"]) - 1 else str(frame))


def _activated(fusion: FusionView, item_id: str) -> None:
    # The largest missed fusion.
    if item_id == "why":
        url.put(url.DRAWER, WHY)
        _choose(fusion.pair)
    else:
        set_state(OPENED, item_id)


def _choose(pair: tuple[str, ...]) -> None:
    for key, name in zip((FIRST, SECOND), pair, strict=True):
        set_state(key, name)


def _newest(left: str | None, right: str | None) -> str | None:
    """Return the selection that changed since the last script run, otherwise the URL's selection.

    If both selections changed, the selection in the right view counts.
    """
    last_left, last_right = state_of("fusion-selections", (None, None))
    set_state("fusion-selections", (left, right))
    if right != last_right:
        return right
    return left if left != last_left else url.selected()


def open_kernel(fusion: FusionView) -> None:
    """Open the page of a newly double-clicked kernel."""
    kernel = fusion.kernel(state_of(OPENED))
    set_state(OPENED, None)
    if kernel is not None:
        go_to(_page(kernel), url.link(**{url.SELECT: f"k:{kernel.id}"}))


def kernel_drawer(view: View, kernel: Kernel | None, op: str) -> None:
    """Draw a kernel's source and the lines of the model that it comes from; begin with an op's."""
    if kernel is None:
        st.caption(FusionView.no_kernel_picked)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(kernel.name, LONGEST_NAME))
        page = _page(kernel)
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(page.script, label="Open the kernel", icon=page.icon, query_params=link)
    kernel_source(view, kernel, whole=False, height=SHORT)
    user_lines(view, kernel, op=op)


def _page(kernel: Kernel) -> menu.Page:
    return menu.KERNELS if kernel.extern else menu.KERNEL


def why_not(fusion: FusionView) -> None:
    """Let the visitor pick two nodes (by default a refused pair), and show why they are not fused."""
    titles = fusion.node_titles
    if len(titles) < 2:
        st.caption(fusion.one_node)
        return
    st.markdown(f"**{fusion.question}**")
    _choose(fusion.chosen_pair(state_of(FIRST), state_of(SECOND)))
    left = st.selectbox("First", titles, format_func=titles.__getitem__, key=FIRST)
    right = st.selectbox("Second", titles, format_func=titles.__getitem__, key=SECOND)
    refusal = fusion.refusal(left, right)
    for line in refusal.lines if refusal is not None else ():
        st.markdown(line)
    st.caption(refusal.shared if refusal is not None else fusion.same_nodes)
    with st.expander(fusion.refusals_title, expanded=True):
        st.caption(fusion.refusal_counts)
        row = newly_picked_row(fusion.refusals, column_order=fusion.short_columns) if fusion.refusals.rows else None
    if row is not None:
        press(PICKED, row.names)
        st.rerun()


def captured_graphs(view: View, captures: capture.CaptureView) -> None:
    """Draw the graphs of all captures, and the drawer beside them."""
    place, selected = stage(), url.selected()
    if captures.is_drawn:
        with place.container(key="drawing"):
            selected = show(captures_drawn(view, captures), f"captures-{view.compilation.id}").id
    with drawer(place, [NODE, *capture.TABS], selected) as tab:
        if tab == NODE:
            if facts := captures.node_facts(selected):
                st.table(facts, border="horizontal")
            node_lines(view, captures.nodes, node_of(captures.nodes, selected), f"captures-{view.compilation.id}")
        elif tab:
            draw(captures.tab(tab))
