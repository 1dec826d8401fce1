"""AOTAutograd with compilers of one's own: one for the forward graph, one for the backward graph.

    model = torch.compile(model, backend=backend, options={"decompositions": "core aten", "partitioner": "default"})

Decompositions take ops apart into simpler ones while AOTAutograd traces; the partitioner cuts what it traced into forward
and backward, and decides what the forward keeps for the backward. Told: the graph at each level, how many nodes each
set of decompositions makes of it, and how many bytes each partitioner keeps.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch._refs  # enters the decompositions into prims
from functorch.compile import default_partition, make_boxed_func, min_cut_rematerialization_partition
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table
from torch._logging import trace_structured
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

Graphs = tuple[GraphModule, GraphModule]
Table = Mapping[Any, Callable[..., Any]]

DECOMPOSITIONS: dict[str, Callable[[], Table]] = {
    "none": dict,
    "core aten": core_aten_decompositions,
    "inductor": select_decomp_table,
    "prims": lambda: decomposition_table,
}
PARTITIONERS: dict[str, Callable[..., Graphs]] = {
    "min-cut": min_cut_rematerialization_partition,
    "default": default_partition,
}


def backend(gm: GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    """Compile a graph of Dynamo's; see DECOMPOSITIONS and PARTITIONERS for what the options may say."""
    chosen = {"decompositions": "none", "partitioner": "min-cut", **(options or {})}
    tell_text("torch: what Dynamo captured", gm)
    through_aot = aot_autograd(
        fw_compiler=compiler("forward", chosen["decompositions"]),
        bw_compiler=compiler("backward", chosen["decompositions"]),
        inference_compiler=compiler("inference", chosen["decompositions"]),
        decompositions=DECOMPOSITIONS[chosen["decompositions"]](),
        partition_fn=partitioner(chosen["partitioner"]),
    )
    return through_aot(gm, example_inputs)


def compiler(direction: str, chosen: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
    """What AOTAutograd gives one of its graphs to."""

    def compile_graph(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        # Your compiler goes here: `gm` is of ATen ops, without side effects. This one runs it op by op.
        tell_levels(gm, example_inputs, direction, chosen)
        return make_boxed_func(gm.forward)

    return compile_graph


def tell_levels(gm: GraphModule, example_inputs: Sequence[Any], direction: str, chosen: str) -> None:
    """The graph as it is; if nothing was taken apart yet, also as each set of decompositions would have made it."""
    levels = {chosen: gm}
    if chosen == "none":
        for name, table in DECOMPOSITIONS.items():
            levels[name] = make_fx(gm, table())(*example_inputs) if name != "none" else gm
    rows = []
    for name, level in levels.items():
        tell_text(f"{direction}, decompositions: {name}", level)
        calls = level.graph.find_nodes ...
        rows.append((name, len(calls), len({node.target for node in calls})))
    tell_table(f"Nodes of the {direction} graph", ("decompositions", "calls", "different ops"), rows)
