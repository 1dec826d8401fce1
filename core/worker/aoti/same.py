"""Comparison of a package's results with eager's, and bit by bit with another run of the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from core.base.words import count
from core.report import Difference
from core.worker.results.compare import compare_leaf
from core.worker.results.named import leaves

RETURNED = (torch.Tensor, bool, int, float)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors of nested arguments or results, in torch's order: what the package takes and returns in C++."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def flat_differences(expected: Any, outputs: Sequence[torch.Tensor]) -> tuple[Difference, ...]:
    """Return the differences of C++ results, which are tensors on the CPU, from eager's.

    Compares eager's tensors, and its numbers if the package returns them as tensors, too.
    """
    expected_leaves = leaves("output", expected)
    named = {name: leaf for name, leaf in expected_leaves.items() if isinstance(leaf, torch.Tensor)}
    if len(named) != len(outputs):
        named = {name: torch.as_tensor(leaf) for name, leaf in expected_leaves.items() if isinstance(leaf, RETURNED)}
    if len(named) != len(outputs):
        return (Difference("output", False, "tree", count(len(named), "tensor"), count(len(outputs), "tensor")),)
    pairs = zip(named.items(), outputs, strict=True)
    return tuple(
        difference
        for (name, expected_leaf), output in pairs
        for difference in compare_leaf(name, expected_leaf.detach().cpu(), output)
    )


def bits_equal(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> bool:
    """Return True if two lists of tensors have the same bytes."""
    return len(left) == len(right) and all(_bytes_equal(a.detach().cpu(), b) for a, b in zip(left, right, strict=True))


def _bytes_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    # A dimension of its own, since a number without any cannot be seen as bytes.
    return torch.equal(*(tensor.contiguous().unsqueeze(-1).view(torch.uint8) for tensor in (a, b)))
