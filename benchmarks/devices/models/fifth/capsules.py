"""Capsules that agree with each other in three rounds of routing, trained in float32."""

import torch
from torch import nn

PARTS, CLASSES, FROM, TO = 288, 16, 8, 16


def squash(x: torch.Tensor) -> torch.Tensor:
    size = x.pow(2).sum(-1, keepdim=True)
    return x * size / (1 + size) * torch.rsqrt(size + 1e-6)


class Capsules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(784, PARTS * FROM)
        self.votes = nn.Parameter(torch.randn(PARTS, FROM, CLASSES * TO) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = squash(self.first(x).view(-1, PARTS, FROM))
        votes = torch.bmm(parts.transpose(0, 1), self.votes).transpose(0, 1).unflatten(-1, (CLASSES, TO))
        belief = torch.zeros_like(votes[..., 0])
        for _ in range(3):
            whole = squash((belief.softmax(-1)[..., None] * votes).sum(1))
            belief = belief + (votes * whole[:, None]).sum(-1)
        return torch.relu(0.9 - whole.norm(dim=-1)).pow(2).mean()


model = Capsules()
calls = [[torch.randn(512, 784)]]
training = True
