"""Sweeps: the questions about a job, the answer, table and charts of one sweep, and the menu What if."""

from core.views.sweep.question import SweepQuestion, SweepQuestions, WhatIfMenu
from core.views.sweep.view import SweepView, answer_lines

__all__ = ["SweepQuestion", "SweepQuestions", "SweepView", "WhatIfMenu", "answer_lines"]
