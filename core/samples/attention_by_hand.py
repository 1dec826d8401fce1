"""Attention by hand

Inductor recognises attention that is spelled out as matmul, scale, softmax, matmul, and replaces it by
scaled_dot_product_attention: compare Dynamo's graph with the one that Inductor lowers.
"""

import math

import torch
from torch import Tensor

group = "Attention"


def model(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scores = torch.matmul(query, key.transpose(-2, -1)).div(math.sqrt(query.shape[-1]))
    return scores.softmax(dim=-1).matmul(value)


BATCH, HEADS, LENGTH, HEAD_DIM = 2, 8, 256, 64
inputs = tuple(torch.randn(BATCH, HEADS, LENGTH, HEAD_DIM) for _ in range(3))
