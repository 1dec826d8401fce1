"""Domain adaptation: gradients are reversed with a strength that is set after each forward."""

import torch
from torch import nn

STRENGTH = {"value": 1.0}


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return -STRENGTH["value"] * gradient


class Adapter(nn.Module):
    def __init__(self, width: int = 7) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, 16))
        self.domain = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.domain(Reverse.apply(self.features(x))).squeeze(-1)


def build(width: int = 7):
    """Return the model and its compiled forward."""
    model = Adapter(width)
    return model, torch.compile(model)
