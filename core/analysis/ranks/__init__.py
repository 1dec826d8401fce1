"""Comparison of the ranks of a run: the first difference in causal order, its cause, and a forecast of a hang"""

from core.analysis.ranks.causes import RankSide, with_cause
from core.analysis.ranks.differences import Change, DifferenceKind, RankDifference, code_difference, first_difference
from core.analysis.ranks.forecasts import Advice, AdviceKind, Forecast, advice, forecast, runs_collectives
from core.analysis.ranks.groups import RankGroup, RankRow, Ranks, group_ranks, row_of

__all__ = [
    "Advice",
    "AdviceKind",
    "Change",
    "DifferenceKind",
    "Forecast",
    "RankDifference",
    "RankGroup",
    "RankRow",
    "RankSide",
    "Ranks",
    "advice",
    "code_difference",
    "first_difference",
    "forecast",
    "group_ranks",
    "row_of",
    "runs_collectives",
    "with_cause",
]
