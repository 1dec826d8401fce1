"""What a backend was given, what it returned, how often that ran, and what the backend itself told."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.places import Payload
from core.report.record import Record


@dataclass(frozen=True, slots=True)
class BackendNode:
    """A node of a graph as a backend is given it: the columns of `print_tabular`, who uses it, and its value.

    `value` is torch's word for what the node computes, such as `f32[4, 8]`; empty where it has none.
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
    """One call of a backend, under the compile id that it was called for; not of `inductor`.

    `torch.compile` passes it a graph and example inputs, and takes a callable.
    """

    backend: str
    """its name, or that of the callable"""
    inputs: tuple[str, ...]
    """the example inputs, shortened: `f32[4, 8]`"""
    nodes: tuple[BackendNode, ...]
    """the nodes of the graph in order"""
    left_out: int
    """number of nodes beyond those"""
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


@dataclass(frozen=True, slots=True)
class Execution:
    """One call of what a backend returned. `call` is the index of the run's call in which it was made, None outside of
    them, as while measuring; `number` counts the executions of this compilation.
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
    """How often what a backend returned ran in all: while calls were made, and while it was measured."""

    compilation: str
    calls: int
    measured: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ToldTable:
    """A table that a backend told by torch's own trace. A column `node` holds names of nodes of the graph."""

    compilation: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text that a backend told by torch's own trace, such as a graph at one of its levels."""

    compilation: str
    title: str
    language: str
    text: Payload
