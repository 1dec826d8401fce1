"""Evaluation by averaged weights: the average changes between evaluations."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.enter = nn.Linear(width, 24)
        self.norm = nn.BatchNorm1d(24)
        self.leave = nn.Linear(24, 3)

    def forward(self, x):
        return self.leave(torch.relu(self.norm(self.enter(x))))


class Average:
    """A moving average of a model's weights, with a compiled forward for evaluation."""

    def __init__(self, model: nn.Module, width: int, decay: float = 0.5) -> None:
        self.decay = decay
        self.model = Net(width).eval().requires_grad_(False)
        self.model.load_state_dict(model.state_dict())
        self.forward = torch.compile(self.model)

    def update(self, model: nn.Module) -> None:
        """Move the average towards a model."""
        for own, new in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if own.is_floating_point():
                own.lerp_(new.detach(), 1 - self.decay)

    def evaluate(self, x):
        """Return the averaged model's outputs."""
        with torch.no_grad(), torch._inductor.config.patch(freezing=True):
            return self.forward(x)


def start(width: int = 8):
    """Return a model to train and its average."""
    model = Net(width)
    return model, Average(model, width)
