"""`nn.Module` of each FX node; backward nodes get the module of their forward node."""

from __future__ import annotations

import torch
from torch._dynamo.symbolic_convert import tls
from torch.fx import Graph, Node

from core.report import Module

ROOT = "L['self']"


class Modules:
    """The modules of graphs, one after the other: what one graph taught helps with the next."""

    def __init__(self) -> None:
        self._by_seq: dict[str, dict[int, Module]] = {}
        self._roots: dict[str, Module | None] = {}

    def of(self, graph: Graph) -> dict[str, Module]:
        """FX node → its module; nodes that belong to none are left out."""
        compilation = str(torch._guards.CompileContext.current_compile_id())
        root = self._root(compilation)
        by_seq = self._by_seq.setdefault(compilation, {})
        modules = {node: module for node in graph.nodes if (module := _own(node))}
        calls = [node for node in graph.nodes if node.op.startswith("call_")]
        numbered = {node: module for node, module in modules.items() if "seq_nr" in node.meta}
        # Without autograd all nodes have one number, which tells none from another.
        told = len({node.meta["seq_nr"] for node in numbered}) > 1
        for node, module in numbered.items():
            if told and node.meta.get("nn_module_stack"):
                by_seq.setdefault(node.meta["seq_nr"], module)
        modules |= {
            node: module for node in calls if node not in modules and (module := _by_origin(node, by_seq, root))
        }
        _from_neighbours(calls, modules)
        return {node.name: module for node, module in modules.items()}

    def _root(self, compilation: str) -> Module | None:
        """The module whose `forward` Dynamo traces; a backward, compiled later, is of the forward's."""
        tracer = getattr(tls, "current_tx", None)
        if tracer is not None:
            owner = tracer.f_locals.get("self")
            known = isinstance(owner, torch.nn.Module)
            self._roots[compilation] = Module(ROOT, type(owner).__name__) if known else None
        return self._roots.get(compilation)


def _own(node: Node) -> Module | None:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None
    path, kind = list(stack.values())[-1]
    return Module(str(path), getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1]))


def _by_origin(node: Node, by_seq: dict[int, Module], root: Module | None) -> Module | None:
    """Return the module by autograd's sequence number, shared by forward and backward nodes.

    The root outside submodules.

    A sum of gradients has the number of whatever ran before it, and a node created by a pass has none.
    """
    if node.meta.get("is_gradient_acc") or not {"seq_nr", "stack_trace"} & node.meta.keys():
        return None
    return by_seq.get(node.meta.get("seq_nr", -1), root)


def _from_neighbours(calls: list[Node], modules: dict[Node, Module]) -> None:
    """Nodes that torch says nothing about: by what they replaced, by their one reader's module, else by their
    input's.
    """
    by_name = {node.name: module for node, module in modules.items()}
    for node in reversed(calls):
        if node not in modules:
            replaced = [by_name[source.name] for source in node.meta.get("from_node", ()) if source.name in by_name]
            readers = {modules[user] for user in node.users if user in modules}
            found = replaced or (list(readers) if len(readers) == 1 else [])
            if found:
                modules[node] = found[0]
    for node in calls:
        found = [modules[item] for item in node.all_input_nodes if item in modules]
        if node not in modules and found:
            modules[node] = found[0]
