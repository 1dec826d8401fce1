"""Ranks of a run: the verdict, the first difference of each group, and tables."""

from core.views.ranks.difference import DifferenceView
from core.views.ranks.view import RanksView, RunRanks

__all__ = ["DifferenceView", "RanksView", "RunRanks"]
