"""Sweeps: a job varied along axes, one run per cell, with the results in one table."""

from core.sweep.model import (
    Axis,
    AxisValue,
    Sweep,
    SweepCell,
    applied,
    cells,
    changed,
    check_backends,
    parse_axes,
    parse_axis,
)
from core.sweep.runner import RecordedSweep, SweepRunner, new_sweep, recorded_sweeps
from core.sweep.store import Claim, SweepCall, SweepRow, SweepStore
from core.sweep.table import SweepStanding, SweepState, as_csv, as_json, table

__all__ = [
    "Axis",
    "AxisValue",
    "Claim",
    "RecordedSweep",
    "Sweep",
    "SweepCall",
    "SweepCell",
    "SweepRow",
    "SweepRunner",
    "SweepStanding",
    "SweepState",
    "SweepStore",
    "applied",
    "as_csv",
    "as_json",
    "cells",
    "changed",
    "check_backends",
    "new_sweep",
    "parse_axes",
    "parse_axis",
    "recorded_sweeps",
    "table",
]
