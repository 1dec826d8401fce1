"""Calls of custom backends, executions of the callables that they returned, and the tables and texts that they log."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.places import Payload
from core.report.record import Record


@dataclass(frozen=True, slots=True)
class BackendNode:
    """A node of a graph as a backend gets it: the columns of `print_tabular`, its users, and its value.

    `value` is torch's notation for the node's value, such as `f32[4, 8]`; empty if it has none.
    """

    name: str
    op: str
    target: str
    args: str
    kwargs: str
    users: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Invocation(Record):
    """A call of a backend other than `inductor`, under the compile id that it compiled for.

    `torch.compile` passes a graph and example inputs to the backend, which returns a callable.
    """

    backend: str
    """the backend's name, or the name of the callable passed as `backend=`"""
    inputs: tuple[str, ...]
    """the example inputs, shortened: `f32[4, 8]`"""
    nodes: tuple[BackendNode, ...]
    """the nodes of the graph in order"""
    left_out: int
    """number of nodes beyond those"""
    code: str
    """`gm.code`; empty if it was too long"""
    returned: str
    """type and name of the returned object"""
    seconds: float
    """how long it took"""
    problem: str = ""
    """why the returned object is invalid, or the backend's exception"""
    place: tuple[str, int] | None = None
    """file and line of the exception"""


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution of a callable that a backend returned. `call` is the index of the run's call that caused it, None
    outside of these calls, such as while measuring; `number` counts the executions of this compilation.
    """

    compilation: str
    number: int
    call: int | None
    seconds: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Executions:
    """Number of executions of a backend's callable: in the run's calls, and while measuring."""

    compilation: str
    calls: int
    measured: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ToldTable:
    """A table that a backend logged through torch's own trace. A column named `node` contains names of graph nodes."""

    compilation: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text that a backend logged through torch's own trace, such as the graph after one of its stages."""

    compilation: str
    title: str
    language: str
    text: Payload
