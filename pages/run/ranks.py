"""Ranks page: groups of ranks with equal compilations, their first difference, and a forecast."""

import streamlit as st

from core.views import ranks as rank_views
from pages import menu
from pages.parts.compare.runs import both_texts, first_difference, groups, ranks_view, table, wait_for_ranks
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("The ranks of a distributed job will stand here.")
run_ranks = rank_views.RunRanks(view.run)
if len(run_ranks.ranks) < 2:
    what, command, how = run_ranks.no_ranks
    page_title("This run has one rank")
    st.write(what)
    st.code(command, language=None)
    st.write(how)
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)
    st.stop()
ranks = ranks_view(view, run_ranks)
if ranks is None:
    wait_for_ranks(view, run_ranks)
    st.stop()

page_title(ranks.title)
for sentence in ranks.unread:
    st.warning(sentence, icon=":material/error:")
chosen = groups(ranks)
if chosen is not None:
    first_difference(chosen)
    st.page_link(
        menu.COMPARE.script,
        label=f"Compare {' with '.join(chosen.names)}",
        icon=menu.COMPARE.icon,
        query_params=run_ranks.link(chosen),
    )
    both_texts(chosen)
table(ranks)
