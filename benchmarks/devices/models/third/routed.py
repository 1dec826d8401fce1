"""Words of a model with one of sixteen experts each, found by a sort, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HIDDEN, EXPERTS, TOKENS = 768, 2_048, 16, 16_384


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.router = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, HIDDEN) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) * 0.02)
        self.head = nn.Linear(WIDTH, 512)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        weight, expert = torch.softmax(self.router(y).float(), -1).max(-1)
        order = torch.sort(expert, stable=True).indices
        parts = y[order].view(EXPERTS, -1, WIDTH)
        made = torch.bmm(F.gelu(torch.bmm(parts, self.up)), self.down).flatten(0, 1)
        made = made * weight[order].unsqueeze(1).to(made.dtype)
        back = torch.empty_like(order).scatter(0, order, torch.arange(TOKENS, device=order.device))
        return self.head(x + made[back]).float().logsumexp(-1).mean()


model = Experts().to(torch.bfloat16)
calls = [[torch.randn(TOKENS, WIDTH).bfloat16()]]
training = True
