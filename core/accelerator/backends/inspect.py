"""A backend that prints the graph and its inputs, and runs the graph unchanged.

model = torch.compile(model, backend=backend)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import GraphModule, Node

COLUMNS = ("op", "name", "target", "args", "kwargs")


def backend(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Print the inputs, nodes and code of a graph; return a function that runs the graph unchanged."""
    print("Example inputs:")
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), example_inputs, strict=True):
        print(f"  {node.name}: {described(value)}")
    print("\nNodes:")
    print(tabular(gm.graph.nodes))
    print("\nCode:")
    print(gm.code.strip())
    return gm.forward


def described(value: Any) -> str:
    """Return dtype, shape and device of a tensor; the value of any other input."""
    if not hasattr(value, "dtype"):
        return repr(value)
    return f"{value.dtype}{list(value.shape)} on {value.device}"


def tabular(nodes: Any) -> str:
    """Return the same table as `gm.graph.print_tabular()`, without the package tabulate."""
    rows = [COLUMNS, *map(cells, nodes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def cells(node: Node) -> tuple[str, ...]:
    """Return a node's row of the table."""
    return node.op, node.name, node._pretty_print_target(node.target), str(node.args), str(node.kwargs)
