"""Sweeps: the questions about a job, the answer, table and charts of one sweep, and the menu What if."""

from core.views.sweep.question import SweepQuestion, SweepQuestions, WhatIfMenu
from core.views.sweep.view import SweepView
