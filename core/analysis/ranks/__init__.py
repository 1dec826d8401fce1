"""Comparison of a run's ranks: first difference in causal order, cause, forecast of a hang."""

from core.analysis.ranks.differences import (
    Advice,
    AdviceKind,
    Change,
    DifferenceKind,
    Forecast,
    RankDifference,
    advice,
    code_difference,
    first_difference,
    forecast,
    runs_collectives,
)
from core.analysis.ranks.groups import RankGroup, RankRow, Ranks, RankSide, group_ranks, row_of, with_cause

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
