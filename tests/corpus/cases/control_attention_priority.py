"""A block chooses the implementations of attention, in order, by a context in forward.

Source: https://github.com/pytorch/pytorch/issues/149725
Run: --backend eager --fullgraph
"""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


class Block(torch.nn.Module):
    def forward(self, query):
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], set_priority=True):
            mixed = scaled_dot_product_attention(query, query, query)
        return mixed * 2


model, inputs = Block(), (torch.randn(1, 2, 6, 8),)
