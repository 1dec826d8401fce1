"""Records of backends: the executions of the callables that they returned."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Execution, Executions
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Executions of the callable that a backend returned: logged once a run."""

    executions: tuple[Execution, ...]
    """the first of each compilation, in order"""
    totals: tuple[Executions, ...]
    """all of them, one for each compilation"""
