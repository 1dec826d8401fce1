"""A pipeline warms up with one image per prompt, and then makes two and four.

Source: https://github.com/huggingface/lora-fast/issues/5
Finds: recompiles
Cause: size|batch|1|one
Cure: warm|two|larger|more than one|mark_unbacked|pad|not.*one|at least
Expects: recompiles 0, results other
"""

import torch
from torch import nn


class Transformer(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, latents):
        q, k, v = self.qkv(self.norm(latents)).chunk(3, -1)
        return latents + self.out(nn.functional.scaled_dot_product_attention(q, k, v))


torch_compile = {"dynamic": True}
model = Transformer().eval()
calls = [(torch.randn(n, 8, 16),) for n in (1, 2, 4)]

# Cured
calls = [(torch.cat([x, x]) if len(x) == 1 else x,) for (x,) in calls]
