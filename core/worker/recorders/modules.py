"""Which `nn.Module` each FX node comes from; the nodes of the backward by the forward node that they belong to."""

from __future__ import annotations

import torch
from torch._dynamo.symbolic_convert import tls
from torch.fx import Graph, Node

Place = tuple[str, str]
ROOT = "L['self']"


class Modules:
    """Places as (path of the module, its class), as Dynamo names them; what one graph taught helps with the next."""

    def __init__(self) -> None:
        self._by_seq: dict[str, dict[int, Place]] = {}
        self._roots: dict[str, Place | None] = {}

    def of(self, graph: Graph) -> dict[str, Place]:
        """FX node → its module; nodes that belong to none are left out."""
        compilation = str(torch._guards.CompileContext.current_compile_id())
        root = self._root(compilation)
        by_seq = self._by_seq.setdefault(compilation, {})
        places = {node: place for node in graph.nodes if (place := _own(node))}
        calls = [node for node in graph.nodes if node.op.startswith("call_")]
        for node, place in places.items():
            if node.meta.get("nn_module_stack") and "seq_nr" in node.meta:
                by_seq.setdefault(node.meta["seq_nr"], place)
        places |= {node: place for node in calls if node not in places and (place := _by_origin(node, by_seq, root))}
        _from_neighbours(calls, places)
        return {node.name: place for node, place in places.items()}

    def _root(self, compilation: str) -> Place | None:
        """The module whose `forward` Dynamo traces; a backward, compiled later, is of the forward's."""
        tracer = getattr(tls, "current_tx", None)
        if tracer is not None:
            owner = tracer.f_locals.get("self")
            self._roots[compilation] = (ROOT, type(owner).__name__) if isinstance(owner, torch.nn.Module) else None
        return self._roots.get(compilation)


def _own(node: Node) -> Place | None:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None
    path, kind = list(stack.values())[-1]
    return str(path), getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1])


def _by_origin(node: Node, by_seq: dict[int, Place], root: Place | None) -> Place | None:
    """By autograd's sequence number, which a backward node shares with its forward node. Called in no submodule: the
    root.

    A sum of gradients has the number of whatever ran before it, and a node that a pass made has none.
    """
    if node.meta.get("is_gradient_acc") or not {"seq_nr", "stack_trace"} & node.meta.keys():
        return None
    return by_seq.get(node.meta.get("seq_nr", -1), root)


def _from_neighbours(calls: list[Node], places: dict[Node, Place]) -> None:
    """Nodes that torch says nothing about: by what they replaced, by their one reader's module, else by their
    input's.
    """
    by_name = {node.name: place for node, place in places.items()}
    for node in reversed(calls):
        if node not in places:
            replaced = [by_name[source.name] for source in node.meta.get("from_node", ()) if source.name in by_name]
            readers = {places[user] for user in node.users if user in places}
            found = replaced or (list(readers) if len(readers) == 1 else [])
            if found:
                places[node] = found[0]
    for node in calls:
        found = [places[item] for item in node.all_input_nodes if item in places]
        if node not in places and found:
            places[node] = found[0]
