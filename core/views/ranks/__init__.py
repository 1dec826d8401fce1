"""Ranks of a run: the verdict, the first difference of each group, and tables."""

from core.views.ranks.difference import COMPARE, DifferenceView
from core.views.ranks.view import NO_RANKS, RanksView, RunRanks, ranks
