"""Graph-break zoo, repaired

The same five functions with the same results, in one graph: values are looked at only in eager mode, torch.where
chooses, numbers stay tensors, a mask replaces the selection, and the hash is computed at import.
"""

import zlib

import torch
from torch import Tensor

group = "Dynamo"

FEATURE = b"height"
COLUMN = zlib.crc32(FEATURE) % 64


def look(x: Tensor) -> Tensor:
    y = x.sin()
    if not torch.compiler.is_compiling():
        print("mean", y.mean())
    return y * 2


def branch(x: Tensor) -> Tensor:
    return torch.where(x.mean() > 0, x.relu(), x.neg())


def rescale(x: Tensor) -> Tensor:
    largest = x.abs().max()
    return x / (largest + 1.0)


def select(x: Tensor) -> Tensor:
    positive = torch.where(x > 0, x, 0.0)
    return x - positive.sum() / x.numel()


def lookup(x: Tensor) -> Tensor:
    return x.cos() - x[:, COLUMN].mean()


def model(x: Tensor) -> Tensor:
    x = look(x)
    x = branch(x)
    x = rescale(x)
    x = select(x)
    return lookup(x)


inputs = (torch.randn(64, 64),)
