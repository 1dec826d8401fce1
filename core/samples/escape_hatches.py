"""Escape hatches

Six ways to control torch.compile from code: a function in eager, a function that stays one node, a constant,
a region that is compiled once for three calls, code for eager only, and a reset between two calls.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

group = "Dynamo"


@torch.compiler.disable
def left_to_eager(x: Tensor) -> Tensor:
    return x - x.mean()  # a graph break before it, and no graph of its own


@torch.compiler.allow_in_graph
def wave(x: Tensor) -> Tensor:
    return x.sin() + x.cos()  # one node of Dynamo's graph; AOTAutograd traces into it


@torch.compiler.assume_constant_result
def scale() -> float:
    return 0.5  # called once, while Dynamo traces


@torch.compiler.nested_compile_region
def layer(x: Tensor) -> Tensor:
    return torch.relu(x * 2 - 1)  # a subgraph: called three times, compiled once


def model(x: Tensor) -> Tensor:
    x = wave(x) * scale()
    for _ in range(3):
        x = layer(x)
    if not torch.compiler.is_compiling() and not bool(x.isfinite().all()):
        raise ValueError("not finite")  # a check that would be a graph break, for eager alone
    return left_to_eager(x)


def calls() -> Iterator[tuple[Tensor]]:
    yield (torch.randn(64, 64),)
    torch.compiler.reset()  # drops guards, compiled code and their ids: the next call compiles again
    yield (torch.randn(64, 64),)
