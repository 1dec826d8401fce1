"""Header of every page, the menu's marks, and the row of panes.

The header has pickers, state and verdict as chips, and the account. Menu and panes show counts, and reasons why pages
are empty.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import Run
from core.base import words as fmt
from core.views import header as views
from core.views import runs as lists
from core.views.selection import SelectedOp
from pages import menu
from pages.components.boxes.view import CLOSED, Chip, chips
from pages.components.keys.view import TURNS, all_keys, page_keys
from pages.components.menu.view import Mark, mark_menu
from pages.gate.people import role_of
from pages.gate.visitor import who
from pages.look.text import LONGEST_NAME, plain
from pages.session import url
from pages.session.runs import named_runs
from pages.session.shown import ShownRun, header_run, selected_op, shown_compilation
from pages.session.url import go_to, press, taken

RANK, RANK_PX = "rank", 130
CHIPS, KEYS = "header-chips", "page-keys"


@dataclass(frozen=True, slots=True)
class Header:
    """The drawn header: its line, the runs that it lists, and the shown run."""

    line: DeltaGenerator
    runs: list[lists.ListedRun]
    shown: ShownRun | None


def header(page: str) -> Header:
    """Draw the header of a page: pickers of run and compilation, chips, account, and row of panes."""
    listed_runs = named_runs()
    named = {listed.id: listed.run for listed in listed_runs}
    runs = {listed.id: listed.label for listed in listed_runs}
    wanted = st.query_params.get(url.RUN)
    if wanted and wanted not in runs:
        st.warning(views.missing_run(wanted), icon=":material/link_off:")
    url.read(url.RUN, runs, None)
    chosen = named.get(st.session_state[url.RUN])
    # The chosen rank stands for its run.
    options = [run_id for run_id, run in named.items() if not chosen or run is chosen or run.path != chosen.path]
    line = st.container(horizontal=True, vertical_alignment="center", key="header", gap="small")
    with line:
        st.selectbox(
            "Run",
            options,
            key=url.RUN,
            format_func=lambda run_id: runs.get(run_id, run_id),
            placeholder="No run chosen: pick a sample, or an earlier run here",
            label_visibility="collapsed",
        )
        shown = header_run()
        _rank_picker(shown)
        view = views.HeaderView(shown.status, shown.report, shown.job) if shown is not None else None
        if view is not None:
            _compilation_picker(view)
    url.write(url.RUN, url.COMPILATION)
    op = selected_op(shown, page)
    with line:
        if view is not None:
            chips([*_op_chips(op), *_chips(view)], key=CHIPS, on_pick=_pick_chip)
        account()
    page_keys(partial(_press_key, list(view.compilations) if view is not None else []), key=KEYS)
    key = taken(KEYS)
    if key == "?":
        all_keys()
    opened = _turned(page, TURNS[key]) if key in TURNS else menu.of_script(taken(CHIPS))
    if opened is not None:
        go_to(opened, url.link())
    draw_panes(page, shown)
    return Header(line, listed_runs, shown)


def _chips(view: views.HeaderView) -> list[Chip]:
    """Return the chips of the header; each number links to the page with its evidence."""
    return [
        Chip(fact.value, fact.label, fact.tone, menu.PAGES[fact.page].script if fact.page else "", fact.help)
        for fact in view.facts
    ]


def _op_chips(op: SelectedOp | None) -> list[Chip]:
    """Return the chip of the selected op, with the part that the page shows of it; no chip without an op."""
    if op is None:
        return []
    return [Chip(op.name, op.here, page=menu.FX_GRAPH.script, tooltip=op.help, closes=op.close_label)]


def _pick_chip(chosen: str) -> None:
    if chosen == CLOSED:
        url.select(None)
    else:
        press(CHIPS, chosen)


def _turned(page: str, by: int) -> menu.Page | None:
    """Return the page `by` places further in the menu; None beyond its ends."""
    names = list(menu.PAGES)
    place = names.index(page) + by
    return menu.PAGES[names[place]] if 0 <= place < len(names) else None


def _rank_picker(shown: ShownRun | None) -> None:
    """Draw the choice of a rank if the run has several; a choice changes the run's id to `ID@RANK`."""
    ranks = shown.run.ranks() if shown is not None else ()
    if shown is None or len(ranks) < 2:
        return
    st.session_state[RANK] = shown.run.rank
    st.selectbox(
        "Rank",
        ranks,
        key=RANK,
        on_change=_show_rank,
        args=(shown.run,),
        format_func=lambda rank: f"rank {rank}",
        label_visibility="collapsed",
        width=RANK_PX,
        help=views.rank_help(len(ranks)),
    )


def _show_rank(run: Run) -> None:
    st.session_state[url.RUN] = run.of_rank(st.session_state[RANK]).id
    st.session_state.pop(url.COMPILATION, None)


def _compilation_picker(view: views.HeaderView) -> None:
    preferred = shown_compilation(view.report) if view.report is not None else None
    if preferred is None:
        return
    labels = view.compilations
    url.read(url.COMPILATION, labels, preferred.id)
    st.selectbox(
        "Compilation",
        list(labels),
        key=url.COMPILATION,
        format_func=lambda compile_id: labels.get(compile_id, compile_id),
        label_visibility="collapsed",
        help="One compilation of one Python frame, in torch's numbering: [0/1] is frame 0, compilation 1.",
    )


def _press_key(ids: list[str], key: str) -> None:
    """Store a pressed key; the keys `[` and `]` also select the previous or next compilation."""
    press(KEYS, key)
    by = {"[": -1, "]": 1}.get(key, 0)
    chosen = st.session_state.get(url.COMPILATION)
    if by and chosen in ids:
        st.session_state[url.COMPILATION] = ids[min(max(ids.index(chosen) + by, 0), len(ids) - 1)]


def draw_panes(page: str, shown: ShownRun | None) -> None:
    """Mark the menu, and draw the row of panes if the page's entry has several."""
    by_page = _contents(shown)
    mark_menu(_marks(by_page), _entries(), key="menu")
    entry = menu.entry_of(menu.PAGES[page])
    panes = [pane for pane in entry.pages if pane in entry.panes or pane.name == page]
    if len(panes) > 1:
        with st.container(horizontal=True, gap="small", key="panes"):
            query = url.link()
            for pane in panes:
                _link(pane, by_page.get(pane.name, views.PageContent()), query)


def _contents(shown: ShownRun | None) -> dict[str, views.PageContent]:
    if shown is None or shown.reading:
        return {}
    return views.page_contents(None if shown.is_no_trace else shown.report, live=shown.going)


def _entry_content(entry: menu.MenuEntry, by_page: Mapping[str, views.PageContent]) -> views.PageContent:
    """Return the content of a menu entry: its first pane's count, and a reason if all its panes are empty."""
    panes = [by_page.get(pane.name, views.PageContent()) for pane in entry.panes]
    return views.PageContent(panes[0].count, panes[0].why_empty if all(pane.why_empty for pane in panes) else "")


def _link(pane: menu.Page, content: views.PageContent, query: Mapping[str, str]) -> None:
    title = f":gray[{pane.title}]" if content.why_empty else pane.title
    count = f" :gray[{fmt.number(content.count)}]" if content.count is not None else ""
    st.page_link(
        pane.script,
        label=title + count,
        icon="",
        help=plain(content.why_empty) or None,
        query_params=query,
    )


def _marks(by_page: Mapping[str, views.PageContent]) -> dict[str, Mark]:
    marks = {}
    for entry in menu.ENTRIES:
        content = _entry_content(entry, by_page)
        count = fmt.number(content.count) if content.count is not None else ""
        if count or content.why_empty:
            marks[entry.panes[0].name] = Mark(count, content.why_empty)
    return marks


def _entries() -> dict[str, str]:
    """Return page → first page of its menu entry, for all pages that are not the first of their entry."""
    return {page.name: entry.panes[0].name for entry in menu.ENTRIES for page in entry.pages[1:]}


def account() -> None:
    """Draw a menu with the visitor's name, role and sign-out button; nothing without a sign-in."""
    visitor = who()
    if not visitor.is_person:
        return
    with st.popover("Account", icon=":material/account_circle:", type="tertiary", width="content"):
        st.write(plain(visitor.name, LONGEST_NAME))
        st.caption(f"Role: {role_of(visitor.kind)}")
        st.button("Sign out", icon=":material/logout:", on_click=st.logout)


def page_title(text: str, help: str | None = None, place: DeltaGenerator | None = None) -> None:
    """Draw a page's title at a place, by default here; a title of one sentence has no full stop.

    Numbers stay with their units.
    """
    is_one = re.search(r"\.\s", text) is None
    text = re.sub(r"(?<=\d) (?=(?:%|[kMGTP]?B|[mµn]?s|min|h)(?!\w))", "\N{NO-BREAK SPACE}", text)
    (place or st).title(re.sub(r"\\?\.$", "", text) if is_one else text, anchor=False, help=help)
