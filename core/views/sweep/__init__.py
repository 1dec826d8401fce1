"""Sweeps: the questions about a job, the answer, table and charts of one sweep, and the menu What if."""

from core.views.sweep.question import SweepQuestion, SweepQuestions, WhatIfMenu
from core.views.sweep.table import sweep_rows
from core.views.sweep.view import SweepView

__all__ = ["SweepQuestion", "SweepQuestions", "SweepView", "WhatIfMenu", "sweep_rows"]
