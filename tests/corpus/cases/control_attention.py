"""Attention by `scaled_dot_product_attention`.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
"""

import torch


def model(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


inputs = tuple(torch.randn(2, 4, 8, 16) for _ in range(3))
