"""A small transformer with flex attention is trained on a CPU.

Source: https://github.com/pytorch/pytorch/issues/169224
Run: --script
Finds: flex attention on a CPU
Cause: backward.*CPU|CPU.*backward|[Ff]lex
Cure: requires_grad|no_grad|scaled_dot_product_attention|sdpa|device|GPU|CUDA|without compil
Expects: skipped 0
"""

import torch
from torch.nn.attention.flex_attention import flex_attention

flex_attention = torch.compile(flex_attention)


class Attention(torch.nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)

    def forward(self, rows):
        batch, length, width = rows.shape
        shaped = self.qkv(rows).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = shaped.permute(2, 0, 3, 1, 4).contiguous()
        return flex_attention(query, key, value).transpose(1, 2).reshape(batch, length, width)


torch.manual_seed(0)
attention = Attention()
attention(torch.randn(1, 64, 32)).sum().backward()

# Cured
import torch


class Attention(torch.nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)

    def forward(self, rows):
        batch, length, width = rows.shape
        shaped = self.qkv(rows).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = shaped.permute(2, 0, 3, 1, 4).contiguous()
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return attended.transpose(1, 2).reshape(batch, length, width)


torch.manual_seed(0)
attention = torch.compile(Attention())
attention(torch.randn(1, 64, 32)).sum().backward()
