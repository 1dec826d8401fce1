"""The header of every page: the run, the compilation, the state, the verdict as chips, and the row of panes."""

from __future__ import annotations

import streamlit as st

from core.analysis import captured_ops, frame_names
from core.base import words as fmt
from core.report import Compilation, Report
from pages import menu
from pages.components.chips.view import chips
from pages.components.keys.view import page_keys
from pages.look.text import LONGEST_NAME, code, one_line
from pages.session import url
from pages.session.navigate import go_to
from pages.session.panes import draw_panes
from pages.session.runs import named_runs, run_label
from pages.session.shown import header_run, shown_compilation
from pages.session.verdict_chips import header_chips


def header(page: str) -> None:
    """Draw the pickers, the chips and the row of panes; the only place to switch the run and the compilation.

    `page` is the name of the page below it.
    """
    runs = {run.id: run_label(run, status) for run, status in named_runs()}
    asked = st.query_params.get(url.RUN)
    if asked and asked not in runs and asked != st.session_state.get(url.RUN):
        st.warning(
            f"There is no run {code(asked, LONGEST_NAME)} here; it may have been deleted.", icon=":material/link_off:"
        )
    url.read(url.RUN, runs, None)
    line = st.container(horizontal=True, vertical_alignment="center", key="header", gap="small")
    with line:
        st.selectbox(
            "Run",
            list(runs),
            key=url.RUN,
            format_func=lambda run_id: runs.get(run_id, run_id),
            placeholder="No run chosen: pick a sample, or an earlier run here",
            label_visibility="collapsed",
        )
        here = header_run()
        if here is not None and here.report is not None:
            _compilation_picker(here.report)
    url.write(url.RUN, url.COMPILATION)
    report = here.report if here is not None else None
    ids = [compilation.id for compilation in report.compilations] if report is not None else []
    with line:
        clicked = chips(header_chips(here), key="header-chips") if here is not None else None
    turned = page_keys(lambda pressed: _step(ids, pressed), key="page-keys")
    opened = _turned(page, turned) if turned else menu.of_script(clicked)
    if opened is not None:
        go_to(opened, url.link())
    draw_panes(page, here)


def _turned(page: str, by: int) -> menu.Page | None:
    """Return the page so many places further in the menu; None beyond its ends."""
    names = list(menu.PAGES)
    place = names.index(page) + by
    return menu.PAGES[names[place]] if 0 <= place < len(names) else None


def _compilation_picker(report: Report) -> None:
    preferred = shown_compilation(report)
    if preferred is None:
        return
    several = len(report.compilations) > 1
    words = frame_names(report)
    names = {found.id: _name(found, words[found.id], several) for found in report.compilations}
    url.read(url.COMPILATION, names, preferred.id)
    st.selectbox(
        "Compilation",
        list(names),
        key=url.COMPILATION,
        format_func=lambda compile_id: names.get(compile_id, compile_id),
        label_visibility="collapsed",
        help="A compilation of one Python frame, as PyTorch numbers it: [frame/compilation].",
    )


def _name(compilation: Compilation, name: str, weighed: bool) -> str:
    """Return a compilation's label; with its op count if `weighed`, to tell it from others."""
    ops = f"{fmt.count(captured_ops(compilation), 'op')} · " if weighed else ""
    return f"[{compilation.id}] {ops}{one_line(name, LONGEST_NAME)}"


def _step(ids: list[str], pressed: str) -> None:
    """Select the compilation before or after the chosen one, for the keys `[` and `]`."""
    by = {"[": -1, "]": 1}.get(pressed, 0)
    chosen = st.session_state.get(url.COMPILATION)
    if by and chosen in ids:
        st.session_state[url.COMPILATION] = ids[min(max(ids.index(chosen) + by, 0), len(ids) - 1)]
