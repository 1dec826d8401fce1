"""Inductor with a custom pattern: two matmuls of one input become one with concatenated weights.

    model = torch.compile(model, backend=backend, options={"pattern": "off"})

The backend reports the pattern's matches and near misses, the matches and best attempts of torch's attention
patterns, and which ops Inductor lowers, decomposes, or leaves to torch's kernels. Other options go to Inductor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.utils import counters
from torch._inductor import lowering
from torch._inductor.compile_fx import compile_fx
from torch._inductor.fx_passes import joint_graph, post_grad, serialized_patterns
from torch._inductor.pattern_matcher import (
    FailedMatch,
    Match,
    MatchContext,
    PatternMatcherPass,
    fwd_only,
    init_once_fakemode,
    register_replacement,
    stable_topological_sort,
)
from torch._logging import trace_structured
from torch.fx import Graph, GraphModule, Node

OWN = PatternMatcherPass(pass_name="two_products_of_one_input")
TRANSPOSED = (torch.ops.aten.permute.default, torch.ops.aten.t.default)
COLUMNS = ("node", "outcome", "parts that agree", "stopped at", "why")


def search(x: Tensor, w1: Tensor, w2: Tensor) -> Sequence[Tensor]:
    return x @ w1, x @ w2


def replace(x: Tensor, w1: Tensor, w2: Tensor) -> Sequence[Tensor]:
    both = x @ torch.cat((w1, w2), dim=1)
    return both[:, : w1.shape[1]], both[:, w1.shape[1] :]


def both_are_inputs(match: Match) -> bool:
    """Return True if both weights are inputs or transposed inputs, so that no weight depends on a matmul."""
    weights = [match.kwargs["w1"], match.kwargs["w2"]]
    return all((weight.args[0] if weight.target in TRANSPOSED else weight).op == "placeholder" for weight in weights)


@init_once_fakemode
def register() -> None:
    """Register `replace` for `search`. Sizes do not matter here: torch retraces each match with its sizes."""
    inputs, alone = [torch.empty(8, 8) for _ in range(3)], ("w1", "w2")
    register_replacement(search, replace, inputs, fwd_only, OWN, both_are_inputs, exclusive_arg_names=alone)


class Attempt(MatchContext):
    """An attempt to match a pattern at a node: how many parts match, and where and why the matcher stops."""

    def __init__(self, entry: Any, node: Node) -> None:
        super().__init__(getattr(entry.pattern, "outputs", [entry.pattern]), graph=node.graph)
        self.pattern, self.node, self.agree = entry.pattern, node, -1
        counted = counters["inductor"].copy()  # the extra check traces the replacement, and torch would count that
        try:
            found = self.match(entry.pattern, node)
        except FailedMatch as failed:
            found = failed
        self.matches = bool(found) and bool(entry.extra_check(found))
        counters["inductor"] = counted
        self.stopped = node if found else next((arg for arg in found.args if isinstance(arg, Node)), node)
        self.why = "" if self.matches else "the check refuses it" if found else str(found)

    def match(self, pattern: Any, node: Any) -> Any:
        """Match one part of the pattern, and count it; the matcher stops at the first part that fails."""
        self.agree += 1
        return super().match(pattern, node)

    def row(self) -> tuple[str, str, int, str, str]:
        """Return the attempt's row of the table; a node that was erased counts as replaced."""
        outcome = "replaced" if self.node._erased else "match" if self.matches else "near miss"
        return self.node.name, outcome, self.agree, self.stopped.name, self.why


def attempts(graph: Graph, patterns: PatternMatcherPass) -> Iterator[Attempt]:
    """Yield an attempt for each pattern at each node that could be the pattern's last op."""
    for (op, target), entries in list(patterns.patterns.items()):
        for node in graph.find_nodes(op=op, target=target):
            yield from (Attempt(entry, node) for entry in entries)


def own_pass(graph: Graph) -> None:
    """Apply the pattern, and report its attempt at each matmul."""
    register()
    found = list(attempts(graph, OWN))
    tell(f"Two products of one input, replaced {OWN.apply(graph)} ×", COLUMNS, [attempt.row() for attempt in found])
    stable_topological_sort(graph)


def attention(graph: Graph) -> None:
    """Report the best attempt of each attention pattern: a match, otherwise the most matching parts."""
    post_grad.remove_noop_ops(graph)  # as torch does before it matches them
    files = [file.name for file in iter_modules(serialized_patterns.__path__) if "sfdp" in file.name]
    modules = {name: import_module(f"{serialized_patterns.__name__}.{name}") for name in files}
    names = {id(value): name for name, module in modules.items() for value in vars(module).values()}
    rows = dict.fromkeys(sorted(files, key=len), ("", "no node to begin at", 0, "", ""))
    for attempt in (found for patterns in joint_graph.pass_patterns for found in attempts(graph, patterns)):
        name = names.get(id(attempt.pattern), "")
        if name and (attempt.matches, attempt.agree) > (rows[name][1] == "match", rows[name][2]):
            rows[name] = attempt.row()
    tell("Attention patterns of torch", ("pattern", *COLUMNS), [(name, *row) for name, row in rows.items()])


def ops(graph: Graph) -> None:
    """Report Inductor's treatment of each op in the graph: lowering, decomposition or fallback."""
    nodes = [node for node in graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
    rows = [(node.name, *way(node), str(node.target)) for node in nodes]
    tell("Lowering, decomposition or fallback", ("node", "way", "why", "op"), rows)


def way(node: Node) -> tuple[str, str]:
    """Return Inductor's treatment of a node, and the reason."""
    if node.target in lowering.fallbacks:
        return "fallback", "make_fallback: torch's own kernel is called"
    if node.target not in lowering.lowerings:
        return "fallback", "no lowering is registered"
    if lowering.fallback_node_due_to_unsupported_type(node):
        return "fallback", "Inductor makes no code for its dtype"
    origin = str(node.meta.get("original_aten") or node.target)
    return ("lowering", "") if origin == str(node.target) else ("decomposition", f"from {origin}")


def tell(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table to torch's trace, where Compileboard reads it; does nothing if no trace is written."""
    table = {"title": title, "columns": columns, "rows": rows}
    name = {"name": "backend_table", "encoding": "json"}
    trace_structured("artifact", lambda: name, payload_fn=lambda: json.dumps(table))


def backend(gm: GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    """Compile a graph with Inductor, and with the pattern unless the options contain `"pattern": "off"`."""
    chosen = {"joint_custom_pre_pass": attention, "post_grad_custom_post_pass": ops, **(options or {})}
    if chosen.pop("pattern", "on") != "off":
        chosen["post_grad_custom_pre_pass"] = own_pass
    return compile_fx(gm, example_inputs, config_patches=chosen)
