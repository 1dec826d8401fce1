"""A graph as a backend is given it, in words that are bounded: its nodes, its code, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from core.base.words import count, number
from core.report import BackendNode
from core.worker.load import value_text

MOST_NODES = 2_000
MOST_VALUES = 100
MOST_TEXT_CHARS = 400
MOST_USERS = 32
MOST_CODE_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class OutputDescription:
    """A value that a graph returns: what it is called, its dtype, and its shape with None for what may be any size; a
    dtype of None is of no tensor.
    """

    name: str
    dtype: torch.dtype | None
    shape: tuple[int | None, ...]
    words: str


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """Description of a graph, and the values that it returns."""

    nodes: tuple[BackendNode, ...]
    left_out: int
    code: str
    outputs: tuple[OutputDescription, ...]


def describe_graph(graph: GraphModule) -> GraphDescription:
    """Describe it as it is now: a backend may change it."""
    nodes = list(graph.graph.nodes)
    code = graph.code
    return GraphDescription(
        tuple(map(_node, nodes[:MOST_NODES])),
        max(0, len(nodes) - MOST_NODES),
        code if len(code) <= MOST_CODE_CHARS else "",
        _outputs(nodes[-1]) if nodes else (),
    )


def _node(node: Node) -> BackendNode:
    value = _value(node)
    return BackendNode(
        node.name,
        node.op,
        cut(node._pretty_print_target(node.target)),
        cut(str(node.args)),
        cut(str(node.kwargs)),
        tuple(user.name for user in list(node.users)[:MOST_USERS]),
        "" if value is None else cut(value_text(value)),
    )


def _value(node: Node) -> Any:
    """Return a node's value as recorded by Dynamo, AOTAutograd or shape propagation; None if not recorded."""
    return next((node.meta[key] for key in ("example_value", "val", "tensor_meta") if key in node.meta), None)


def _outputs(last: Node) -> tuple[OutputDescription, ...]:
    """Dynamo's graphs return a tuple of nodes; nothing is known of one that returns another thing."""
    values = last.args[0] if last.op == "output" and last.args else None
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, Node) for value in values):
        return ()
    return tuple(_output(node) for node in values if isinstance(node, Node))


def _output(node: Node) -> OutputDescription:
    value = _value(node)
    if not isinstance(value, torch.Tensor):
        return OutputDescription(node.name, None, (), "")
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return OutputDescription(node.name, value.dtype, shape, value_text(value))


def words_of(values: Any) -> tuple[str, ...]:
    """Arguments or results, shortened: `f32[4, 8]`."""
    several = values if isinstance(values, (tuple, list)) else (values,)
    return tuple(cut(value_text(value)) for value in several[:MOST_VALUES])


def cut(text: str) -> str:
    """A text that is no longer than what is recorded."""
    return text if len(text) <= MOST_TEXT_CHARS else f"{text[:MOST_TEXT_CHARS]} …"


def named(returned: Callable[..., Any]) -> str:
    """Return a backend's result as text: its type and name."""
    name = getattr(returned, "__name__", "")
    return cut(f"{type(returned).__name__} `{name}`" if isinstance(name, str) and name else type(returned).__name__)


def output_problem(outputs: Sequence[OutputDescription], returned: Any) -> str:
    """Return what is wrong with the returned values apart from their numbers; empty if nothing is."""
    if not outputs:
        return ""
    if not isinstance(returned, (tuple, list)):
        return (
            f"returned {cut(value_text(returned))}, where the graph returns {count(len(outputs), 'value')} in a tuple"
        )
    if len(returned) != len(outputs):
        return f"returned {count(len(returned), 'value')}, where the graph returns {number(len(outputs))}"
    pairs = enumerate(zip(outputs, returned, strict=True))
    return next(filter(None, (_wrong(at, expected, value) for at, (expected, value) in pairs)), "")


def _wrong(at: int, expected: OutputDescription, value: Any) -> str:
    if expected.dtype is None:
        return ""
    if isinstance(value, torch.Tensor) and value.dtype == expected.dtype and _fits(expected.shape, value.shape):
        return ""
    return (
        f"returned {cut(value_text(value))} for output {at} (`{expected.name}`), where the graph has {expected.words}"
    )


def _fits(expected: Sequence[int | None], shape: Sequence[int]) -> bool:
    pairs = zip(expected, shape, strict=False)
    return len(expected) == len(shape) and all(extent is None or extent == size for extent, size in pairs)
