"""A decoder's cache grows by a token in each step, and starts as None.

Source: https://github.com/huggingface/transformers/issues/37908
Finds: recompiles
Cause: cache|past|None|size|length
Cure: static|pre-?allocat|fixed|full|max|mark_dynamic|dynamic
Expects: recompiles 0, results other
Lacks: cured
"""

import torch
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, -1)
        if past is not None:
            k = torch.cat([past[0], k], 1)
            v = torch.cat([past[1], v], 1)
        attended = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(attended), (k, v)


net = DecoderLayer().eval()
model = net
tokens = torch.randn(1, 5, 16)


def calls():
    past = None
    for step in range(5):
        token = tokens[:, step : step + 1].clone()
        yield (token, past)
        with torch.no_grad():
            _, past = net(token, past)


# Cured
class DecoderLayer(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, keys, values, position):
        q, k, v = self.qkv(x).chunk(3, -1)
        keys = keys.index_copy(1, position, k)
        values = values.index_copy(1, position, v)
        mask = (torch.arange(keys.shape[1]) <= position)[None]
        attended = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.out(attended), (keys, values)


torch.manual_seed(0)
net = DecoderLayer().eval()
model = net


def calls():
    keys, values = torch.zeros(1, 8, 16), torch.zeros(1, 8, 16)
    for step in range(5):
        token, position = tokens[:, step : step + 1].clone(), torch.tensor([step])
        yield (token, keys, values, position)
        with torch.no_grad():
            _, (keys, values) = net(token, keys, values, position)
