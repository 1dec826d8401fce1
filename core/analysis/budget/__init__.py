"""Budget of a model: limits on what torch.compile makes of it, and whether runs are within them."""

from core.analysis.budget.file import Budget, Limit, read_budget
from core.analysis.budget.judge import Culprit, Judgement, compare_sides, judge

__all__ = ["Budget", "Culprit", "Judgement", "Limit", "compare_sides", "judge", "read_budget"]
