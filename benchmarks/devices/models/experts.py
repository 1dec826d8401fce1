"""A layer of eight experts: each token goes to two of them, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HIDDEN, EXPERTS, TOKENS = 1024, 2816, 8, 8_192


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.router = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, HIDDEN) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) * 0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        weights, chosen = torch.softmax(self.router(y).float(), -1).topk(2)
        order = chosen.flatten().argsort()
        parts = y[order // 2].view(EXPERTS, -1, WIDTH)
        made = torch.bmm(F.silu(torch.bmm(parts, self.up)), self.down).flatten(0, 1)
        made = made * weights.flatten()[order].unsqueeze(1).to(made.dtype)
        return x + torch.zeros_like(x, dtype=torch.float32).index_add(0, order // 2, made.float()).to(x.dtype)


model = nn.Sequential(Experts(), Experts()).to(torch.bfloat16).eval()
calls = [[torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16)]] * 8
training = False
