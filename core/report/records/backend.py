"""Records of backends: what they were given and returned, and when that ran."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import BackendNode, Execution, Executions
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationRecord(Record):
    """Once a call of a backend, under the compile id that it was called for; not for `inductor`."""

    backend: str
    """its name, or that of the callable"""
    inputs: tuple[str, ...]
    """the example inputs, shortened: `f32[4, 8]`"""
    nodes: tuple[BackendNode, ...]
    """the nodes of the graph in order"""
    left_out: int
    """how many more there were"""
    code: str
    """`gm.code`; empty where it was too long"""
    returned: str
    """what came back, by its type and name"""
    seconds: float
    """how long it took"""
    problem: str = ""
    """what was wrong with it, or what was raised"""
    place: tuple[str, int] | None = None
    """file and line of what was raised"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Once a run: when what the backend returned ran."""

    executions: tuple[Execution, ...]
    """the first of each compilation, in order"""
    totals: tuple[Executions, ...]
    """all of them, one for each compilation"""


RECORDS: dict[str, type[Record]] = {"invocation": InvocationRecord, "executions": ExecutionsRecord}
