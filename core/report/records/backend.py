"""Records of backends: what they were given and returned, and when that ran."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Execution, Executions
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Once a run: when what the backend returned ran."""

    executions: tuple[Execution, ...]
    """the first of each compilation, in order"""
    totals: tuple[Executions, ...]
    """all of them, one for each compilation"""
