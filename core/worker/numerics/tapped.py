"""A graph that gives out what its nodes compute, each value as it was right after its node."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from core.worker.rng import rng_state

CALLS = ("call_function", "call_method", "call_module")
RANDOM = "draws random numbers; all three go on with eager's"
VIEW = "a view of another value"
NO_TENSOR = "no tensor"
SEVERAL = "several values, each with a node of its own"
NOT_STRIDED = "a sparse, quantised or wrapped tensor"


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Result of a node in eager: the bytes of a comparable value, or why it is left out.

    `drawn` is the value of a random op, and `in_place` is True if it was written in place.
    """

    bytes: int = 0
    left_out: str = ""
    drawn: torch.Tensor | None = None
    in_place: bool = False


class NodeRecorder(Interpreter):
    """Runs a graph eagerly, node by node, and sees what each gives."""

    def __init__(self, graph: GraphModule, device: str) -> None:
        super().__init__(graph)
        self.met: dict[str, NodeResult] = {}
        self._device = device

    def run_node(self, n: Node) -> Any:
        """Run one node; keeps the random numbers that it draws."""
        if n.op not in CALLS:
            return super().run_node(n)
        read = [leaf for one in n.all_input_nodes for leaf in tree_leaves(self.env[one]) if _plain(leaf)]
        before, stood = [one._version for one in read], rng_state(self._device)
        value = super().run_node(n)
        written = before != [one._version for one in read]
        self.met[n.name] = self._of(value, read, written, rng_state(self._device) != stood)
        return value

    def _of(self, value: Any, read: Sequence[torch.Tensor], written: bool, drew: bool) -> NodeResult:
        if not isinstance(value, torch.Tensor):
            return NodeResult(left_out=RANDOM if drew else SEVERAL if isinstance(value, (tuple, list)) else NO_TENSOR)
        if not _plain(value):
            return NodeResult(left_out=NOT_STRIDED)
        shared = any(_memory(value) == _memory(one) for one in read)
        if drew:
            return NodeResult(left_out=RANDOM, drawn=value.detach().clone(), in_place=shared and written)
        return (
            NodeResult(left_out=VIEW)
            if shared and not written
            else NodeResult(bytes=value.numel() * value.element_size())
        )


def _plain(value: Any) -> bool:
    kinds = (torch.Tensor, torch.nn.Parameter)
    plain = type(value) in kinds and value.layout == torch.strided and not value.is_quantized
    return plain and not value.is_inference() and _memory(value) is not None


def _memory(value: torch.Tensor) -> int | None:
    """Return the address of a value; None within vmap or grad, where a value has no memory of its own."""
    try:
        return value.untyped_storage().data_ptr()
    except NotImplementedError:
        return None


def tapped(graph: GraphModule, taps: Collection[str], drawn: Mapping[str, NodeResult]) -> GraphModule:
    """The same graph with the values of `taps` after its own outputs, in order; what nodes drew are inputs after its
    own.
    """
    made, known, given = Graph(), dict[Node, Any](), list[Node]()
    for node in graph.graph.find_nodes(op="placeholder"):
        known[node] = made.node_copy(node, known.__getitem__)
    chance = {name: made.placeholder(f"drawn_{index}") for index, name in enumerate(drawn)}
    for node in graph.graph.nodes:
        if node.op == "output":
            own = map_arg(node.args[0], known.__getitem__)
            made.output((*own, *given))
        elif node.op != "placeholder":
            known[node] = _copied(node, made, known, drawn, chance)
        if node.name in taps:
            given.append(made.call_method("clone", (made.call_method("detach", (known[node],)),)))
    return GraphModule(graph, made)


def _copied(
    node: Node, made: Graph, known: Mapping[Node, Any], drawn: Mapping[str, NodeResult], chance: Mapping[str, Node]
) -> Node:
    """A node, or in its place what it drew."""
    if node.name not in drawn:
        return made.node_copy(node, known.__getitem__)
    given = chance[node.name]
    if drawn[node.name].in_place:
        written = next(known[one] for one in node.all_input_nodes)
        return made.call_method("copy_", (written, given))
    return given
