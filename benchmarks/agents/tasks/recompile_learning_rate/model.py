"""A hand-written optimizer step, compiled; a warm-up schedule changes the learning rate each step."""

import math

import torch
from torch import nn


class Momentum:
    """Gradient descent with momentum and decay of the weights."""

    def __init__(self, parameters, peak: float = 0.1, warm: int = 6) -> None:
        self.parameters = list(parameters)
        self.velocity = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.peak, self.warm, self.steps = peak, warm, 0

    def rate(self) -> float:
        if self.steps <= self.warm:
            return self.peak * self.steps / self.warm
        return self.peak * 0.5 * (1 + math.cos((self.steps - self.warm) / 20))

    @torch.compile
    def _update(self):
        rate = self.rate()
        for parameter, velocity in zip(self.parameters, self.velocity, strict=True):
            velocity.mul_(0.9).add_(parameter.grad + 1e-3 * parameter)
            parameter.sub_(rate * velocity)

    def step(self) -> None:
        """Change the parameters by their gradients."""
        self.steps += 1
        with torch.no_grad():
            self._update()


def setup(width: int = 6):
    """Return a model and its optimizer."""
    model = nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, 1))
    return model, Momentum(model.parameters())
