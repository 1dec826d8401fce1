r"""A block mask for fewer positions than flex attention gets: torch's own check raises.

Source: https://github.com/meta-pytorch/attention-gym/issues/122
Run: --script
Finds: graph breaks
Cause: block_mask was created for
Cure: correct the line
Expects: skipped 0
Not: nothing to change
"""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

query = torch.ones(1, 2, 256, 16)
mask = create_block_mask(lambda batch, head, query, key: query >= key, None, None, 128, 128, device="cpu")
print(torch.compile(flex_attention, backend="eager")(query, query, query, block_mask=mask).shape)

# Cured
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

query = torch.ones(1, 2, 256, 16)
mask = create_block_mask(lambda batch, head, query, key: query >= key, None, None, 256, 256, device="cpu")
print(torch.compile(flex_attention, backend="eager")(query, query, query, block_mask=mask).shape)
