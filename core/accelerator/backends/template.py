"""The least that a backend of torch.compile is. Change it, and see what comes of it.

model = torch.compile(model, backend=backend)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import GraphModule


def backend(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Called once for each graph that Dynamo captures; never for a call that the guards of a graph let through."""
    # Look: `gm.graph.nodes` are the ops in order, and `gm.code` says the same as Python. The example inputs, among
    # which the parameters are, have a shape, a dtype and a device; their values may be those of no call. Where sizes
    # change, some inputs are sizes: `torch.SymInt` here, `int` at a call.
    for node in gm.graph.nodes:
        print(node.op, node.name, node.target)

    # Change: give a node another target, such as `node.target = torch.sigmoid` where it is `torch.relu`; then these
    # two lines check the graph and write its code anew. The results differ from eager's then, and the run says so.
    gm.graph.lint()
    gm.recompile()

    # Return: any callable that takes the graph's inputs and returns its outputs, as a tuple. It stands in the place
    # of the captured code from now on, and runs at each call. `gm.forward` runs op by op, as eager does.
    return gm.forward
