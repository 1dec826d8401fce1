"""AOTAutograd with custom compilers: one for the forward graph, one for the backward graph.

    model = torch.compile(model, backend=backend, options={"decompositions": "core aten", "partitioner": "default"})

AOTAutograd decomposes ops into simpler ones while it traces. The partitioner cuts the joint graph into forward and
backward, and so decides which tensors are saved for the backward. The backend reports the graph at each level, the
number of its ops under each set of decompositions, and the bytes that each partitioner saves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch
import torch._refs  # registers the decompositions into prims
from functorch.compile import default_partition, make_boxed_func, min_cut_rematerialization_partition
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._dynamo.backends.common import aot_autograd
from torch._guards import detect_fake_mode
from torch._inductor.decomposition import select_decomp_table
from torch._logging import trace_structured
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta

Graphs = tuple[GraphModule, GraphModule]

DECOMPOSITIONS: dict[str, Callable[[], Mapping[Any, Any]]] = {
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
    """Compile a Dynamo graph; the options name one of DECOMPOSITIONS and one of PARTITIONERS."""
    name, cut = (options or {}).get("decompositions", "none"), (options or {}).get("partitioner", "min-cut")
    tell_text("torch", gm)
    compilers = {"fw_compiler": "forward", "bw_compiler": "backward", "inference_compiler": "inference"}
    return aot_autograd(
        **{stage: compiler(direction, name) for stage, direction in compilers.items()},
        decompositions=DECOMPOSITIONS[name](),
        partition_fn=partitioner(cut),
    )(gm, example_inputs)


def compiler(direction: str, chosen: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
    """Return the compiler for one direction; AOTAutograd passes a functional graph of ATen ops to it."""

    def compile_graph(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        tell_levels(gm, example_inputs, direction, chosen)
        return make_boxed_func(gm.forward)

    return compile_graph


def tell_levels(gm: GraphModule, example_inputs: Sequence[Any], direction: str, chosen: str) -> None:
    """Report the graph; if `chosen` is `none`, also the graph under each set of decompositions."""
    sets = DECOMPOSITIONS if chosen == "none" else {chosen: dict}
    levels = {name: gm if name == chosen else taken_apart(gm, sets[name](), example_inputs) for name in sets}
    for name, level in levels.items():
        tell_text(f"{direction}, decompositions: {name}", level)
    rows = [(name, len(calls(level)), len(set(calls(level)))) for name, level in levels.items()]
    tell_table(f"Calls in the {direction} graph", ("decompositions", "calls", "different ops"), rows)


class Retracer(Interpreter):
    """Interpreter that replaces `view` with `reshape`: `view` fails on strides that decompositions change."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        target = torch.ops.aten.reshape.default if target is torch.ops.aten.view.default else target
        return super().call_function(target, args, kwargs)


def taken_apart(gm: GraphModule, table: Mapping[Any, Any], example_inputs: Sequence[Any]) -> GraphModule:
    """Return the graph, traced again with the decompositions of a table."""
    with detect_fake_mode(example_inputs) or nullcontext(), preserve_node_meta():
        return make_fx(Retracer(gm).run, dict(table))(*example_inputs)


def partitioner(chosen: str) -> Callable[..., Graphs]:
    """Return the chosen partitioner; it also reports the tensors that each partitioner would save."""

    def partition(joint: GraphModule, joint_inputs: Any, *, num_fwd_outputs: int, **rest: Any) -> Graphs:
        made = {}
        for name in sorted(PARTITIONERS, key=chosen.__eq__):
            graph = joint if name == chosen else copied(joint)
            made[name] = PARTITIONERS[name](graph, joint_inputs, num_fwd_outputs=num_fwd_outputs, **rest)
        rows = [
            (name, *saved(made[name][0], num_fwd_outputs), *(len(calls(graph)) for graph in made[name]))
            for name in PARTITIONERS
        ]
        columns = (
            "partitioner",
            "tensors computed and saved",
            "bytes",
            "calls in the forward",
            "calls in the backward",
        )
        tell_table("What the forward saves for the backward", columns, rows)
        return made[chosen]

    return partition


def copied(gm: GraphModule) -> GraphModule:
    """Return a copy of the graph, since a partitioner may erase nodes."""
    graph = Graph()
    results, output = graph.graph_copy(gm.graph, {}, return_output_node=True)
    graph.output(results).meta.update(output.meta)
    return GraphModule(gm, graph)


def saved(forward: GraphModule, num_fwd_outputs: int) -> tuple[int, int | str]:
    """Return number and bytes (text if symbolic) of storages saved for the backward, without inputs."""

    def memories(nodes: Iterable[Node]) -> dict[int, Any]:
        values = [node.meta["val"] for node in nodes]
        storages = [value.untyped_storage() for value in values if isinstance(value, torch.Tensor)]
        return {storage._cdata: storage.nbytes() for storage in storages}

    inputs = memories(forward.graph.find_nodes(op="placeholder"))
    kept = memories(forward.graph.output_node().args[0][num_fwd_outputs:])
    sizes = [size for memory, size in kept.items() if memory not in inputs]
    return len(sizes), sum(sizes) if all(isinstance(size, int) for size in sizes) else " + ".join(map(str, sizes))


def calls(gm: GraphModule) -> list[Any]:
    """Return the targets of a graph's calls."""
    return [node.target for node in gm.graph.nodes if node.op == "call_function"]


def tell_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table to torch's trace, where Compileboard reads it; does nothing if no trace is written."""
    table, name = {"title": title, "columns": columns, "rows": rows}, {"name": "backend_table", "encoding": "json"}
    trace_structured("artifact", lambda: name, payload_fn=lambda: json.dumps(table))


def tell_text(title: str, gm: GraphModule) -> None:
    """Write a graph as text to torch's trace."""
    name = {"name": "backend_text", "encoding": "string", "title": title, "language": "python"}
    trace_structured("artifact", lambda: name, payload_fn=lambda: gm.print_readable(print_output=False))
