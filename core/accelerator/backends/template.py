"""A minimal backend of torch.compile. Change it, and look at the report.

model = torch.compile(model, backend=backend)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import GraphModule


def backend(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile one graph. Dynamo calls this once per captured graph, and not for calls whose guards pass."""
    # Look: `gm.graph.nodes` are the ops in order, and `gm.code` is the same as Python code. The example inputs include
    # the parameters. Use only their shape, dtype and device: their values may be fake. With dynamic shapes, some
    # inputs are sizes: `torch.SymInt` here, `int` at a call.
    for node in gm.graph.nodes:
        print(node.op, node.name, node.target)

    # Change: give a node another target, for example `torch.sigmoid` instead of `torch.relu`. The next two lines check
    # the graph and generate its code again. The results then differ from eager, and the run reports that.
    gm.graph.lint()
    gm.recompile()

    # Return: any callable that takes the graph's inputs and returns its outputs as a tuple. Each call runs it instead
    # of the captured code. `gm.forward` runs op by op, as eager does.
    return gm.forward
