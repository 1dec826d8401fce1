"""Graph-break zoo

Five kinds of code that Dynamo cannot trace, one function each. At each of them the graph ends, Python runs
the line, and a new graph starts after it.
"""

import zlib

import torch
from torch import Tensor

group = "Dynamo"
twin = "graph_break_zoo_repaired"

FEATURE = b"height"


def look(x: Tensor) -> Tensor:
    y = x.sin()
    print("mean", y.mean())  # prints a value that is known only when the graph runs
    return y * 2


def branch(x: Tensor) -> Tensor:
    if x.mean() > 0:  # a branch that depends on data
        return x.relu()
    return x.neg()


def rescale(x: Tensor) -> Tensor:
    largest = x.abs().max().item()  # a tensor becomes a Python number
    return x / (largest + 1.0)


def select(x: Tensor) -> Tensor:
    positive = x[x > 0]  # the shape of the result depends on data
    return x - positive.sum() / x.numel()


def lookup(x: Tensor) -> Tensor:
    column = zlib.crc32(FEATURE) % 64  # C code that Dynamo cannot look into
    return x.cos() - x[:, column].mean()


def model(x: Tensor) -> Tensor:
    x = look(x)
    x = branch(x)
    x = rescale(x)
    x = select(x)
    return lookup(x)


inputs = (torch.randn(64, 64),)
