"""The fake kernel of an operator has fewer named arguments, so that it takes a number for a tensor.

Source: https://github.com/tile-ai/TileOPs/issues/648
Finds: not compiled: failed or wrong fake kernel or graph breaks
Cause: (?i)fake|empty_like|argument|signature|meta
Cure: (?i)fake|signature|argument|register_fake
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


@torch.library.custom_op("set6::decode", mutates_args=())
def decode(batch: int, heads: int, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query * key.sum(dim=0, keepdim=True)


@decode.register_fake
def _(batch, *inputs):
    return torch.empty_like(inputs[0])


class Model(torch.nn.Module):
    def forward(self, query, key):
        return decode(query.shape[0], 2, torch.relu(query), key)


model = Model()
inputs = (torch.randn(3, 4), torch.randn(5, 4))

# Cured


@decode.register_fake
def _(batch, heads, query, key):
    return torch.empty_like(query)
