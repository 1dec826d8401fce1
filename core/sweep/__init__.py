"""Many runs, one question: a job that is changed along axes, gone through cell by cell, and read as one table."""

from core.sweep.model import Axis, AxisValue, Sweep, SweepCell, cells
from core.sweep.table import SweepCall, SweepRow

__all__ = ["Axis", "AxisValue", "Sweep", "SweepCall", "SweepCell", "SweepRow", "cells"]
