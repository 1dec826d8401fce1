"""Runs page: a searchable table of stored runs with actions, and one model's runs over time."""

from functools import partial

import streamlit as st

from pages import menu
from pages.look.palette import MAX_LINE_CHARS
from pages.look.text import LONGEST_TEXT, prose
from pages.parts.run.runs_table import (
    compare_button,
    delete_button,
    downloads_of,
    draw_again,
    history,
    picked_run,
    runs_table,
    what_goes,
    what_is_used,
)
from pages.session import url
from pages.session.header import page_title
from pages.session.runs import searched_runs, show_run
from pages.session.url import state_of

SHOWN_AS = {"table": "Table", "time": "Over time"}
SEARCH_HELP = (
    "Words, and filters: `model:gpt2` `device:cuda` `torch:2.13` `is:failed` `is:slower` `tag:x` `author:owner` "
    "`since:2026-11-01` `since:7d` `speedup:>1.2` `breaks:>0` `compile:>60` `-is:cell` `sort:speedup`"
)

page_title("Runs")
what_is_used()
what_goes()
text = (
    st.text_input(
        "Search",
        key=url.FILTER,
        bind="query-params",
        placeholder="Search, such as: model:gpt2 device:cuda torch:2.13 is:failed since:7d",
        help=SEARCH_HELP,
        max_chars=MAX_LINE_CHARS,
        on_change=lambda: url.put(url.LIST_PAGE, None),
    )
    or ""
)
view = searched_runs(text, url.number(url.LIST_PAGE) or 1)
if not (view.total or text or view.indexing):
    st.write("All runs and opened logs.")
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)
    st.stop()
for problem in view.problems:
    st.caption(prose(problem, LONGEST_TEXT))
if view.in_memory:
    st.caption(prose(view.in_memory, LONGEST_TEXT))
if view.indexing:
    draw_again(view.indexing)

url.read(url.SHOWN_AS, SHOWN_AS, "table")
with st.container(horizontal=True, vertical_alignment="center"):
    st.segmented_control(
        "Shown as",
        list(SHOWN_AS),
        key=url.SHOWN_AS,
        format_func=SHOWN_AS.__getitem__,
        label_visibility="collapsed",
        required=True,
    )
    is_table = state_of(url.SHOWN_AS) == "table"
    st.markdown(view.words if is_table else view.total_words, width="content")
    if view.pages > 1 and is_table:
        pages = f"pages-{text}"
        turned = partial(url.put_state, url.LIST_PAGE, pages)
        st.pagination(view.pages, default=view.page, key=pages, on_change=turned)
url.write(url.SHOWN_AS)
if state_of(url.SHOWN_AS) == "time":
    history(text)
    st.stop()
if not view.runs:
    st.stop()

opened, picked = runs_table(view.runs)
if opened is not None:
    show_run(opened.id)
if not picked:
    st.caption(
        "Click a name to open the run. Select one run to rename, tag or pin it; two to compare them; any number to "
        "delete them."
    )
    st.stop()
if len(picked) == 1:
    picked_run(picked[0])
with st.container(horizontal=True):
    if len(picked) == 1:
        downloads_of(picked[0])
    if len(picked) == 2:
        compare_button(picked[1], picked[0])
    delete_button(picked)
