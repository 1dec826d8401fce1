"""Embedding with a custom operator

An op that the compiler does not trace into is one node of the graph. torch.library.custom_op defines it, register_fake
returns the shape of its output, and the ops around it still fuse.
"""

import torch
from torch import Tensor, nn

group = "Advanced"

ROWS, WIDTH, BATCH, LENGTH = 1000, 64, 16, 32


def hashed_lookup(table: Tensor, ids: Tensor) -> Tensor:
    """Return the table's rows for ids of any size; a multiplicative hash maps each id to a row."""
    return table[(ids * 2654435761) % table.shape[0]]


def hashed_lookup_shape(table: Tensor, ids: Tensor) -> Tensor:
    return table.new_empty((*ids.shape, table.shape[1]))


# An operator can be registered only once in a process, but this file may be loaded several times.
if not hasattr(torch.ops.compileboard_samples, "hashed_lookup"):
    operator = torch.library.custom_op("compileboard_samples::hashed_lookup", hashed_lookup, mutates_args=())
    operator.register_fake(hashed_lookup_shape)


class HashedEmbedding(nn.Module):
    """The normalised mean of the embeddings of a sequence of ids."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(ROWS, WIDTH))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids: Tensor) -> Tensor:
        rows = torch.ops.compileboard_samples.hashed_lookup(self.table, ids)
        normed: Tensor = self.norm(torch.tanh(rows).mean(dim=1))
        return normed


model = HashedEmbedding().eval()
inputs = (torch.randint(1_000_000, (BATCH, LENGTH)),)
