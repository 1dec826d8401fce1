"""Ranks page: groups of ranks with equal compilations, their first difference, and a forecast."""

import streamlit as st

from core.views import ranks as rank_views
from pages.parts.compare.runs import compare_link, ranks_view, wait_for_ranks
from pages.session.require import require_report
from pages.session.tables import draw

view = require_report("This page compares the ranks of a distributed job.")
run_ranks = rank_views.RunRanks(view.run)
if len(run_ranks.ranks) < 2:
    draw(rank_views.NO_RANKS)
    st.stop()
ranks = ranks_view(view, run_ranks)
if ranks is None:
    wait_for_ranks(view, run_ranks)
    st.stop()
draw(rank_views.ranks(ranks), {rank_views.COMPARE: lambda difference: compare_link(run_ranks, difference)})
