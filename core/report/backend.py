"""Calls of a custom backend, the executions of the callables that it returned, and the tables and texts
that it logged.
"""

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
    """A call of a backend, under the compile id that it compiled for; none for `inductor`.

    `torch.compile` passes it a graph and example inputs, and takes a callable.
    """

    backend: str
    """its name, or the callable's"""
    inputs: tuple[str, ...]
    """the example inputs, shortened: `f32[4, 8]`"""
    nodes: tuple[BackendNode, ...]
    """the nodes of the graph in order"""
    left_out: int
    """number of nodes beyond those"""
    code: str
    """`gm.code`; empty if it was too long"""
    returned: str
    """the returned object, by its type and name"""
    seconds: float
    """how long it took"""
    problem: str = ""
    """the problem with the returned object, or the exception"""
    place: tuple[str, int] | None = None
    """file and line of the exception"""


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution of a callable that a backend returned. `call` is the index of the run's call that made it, None
    outside of them, as while measuring; `number` counts the executions of this compilation.
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
    """The number of executions of a backend's callable: while calls were made, and while it was measured."""

    compilation: str
    calls: int
    measured: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ToldTable:
    """A table that a backend logged through torch's own trace. A column `node` holds names of nodes of the graph."""

    compilation: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text that a backend logged through torch's own trace, such as a graph at one of its levels."""

    compilation: str
    title: str
    language: str
    text: Payload
