"""A handler that compiles for each request, since models were once mixed up."""

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8))

    def forward(self, x):
        return torch.softmax(self.net(x), dim=-1)


class Handler:
    """Answers requests by one of two models."""

    def __init__(self) -> None:
        self.models = {"small": Scorer().eval(), "safe": Scorer().eval()}

    def __call__(self, name: str, x):
        torch._dynamo.reset()
        model = torch.compile(self.models[name])
        with torch.no_grad():
            return model(x)


def build():
    """Return a handler."""
    return Handler()
