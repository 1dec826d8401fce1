"""A policy with exploration noise that decays by a step counter on the module."""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, observations: int = 8, actions: int = 3) -> None:
        super().__init__()
        self.step = 0
        self.net = nn.Sequential(nn.Linear(observations, 32), nn.Tanh(), nn.Linear(32, actions))

    def forward(self, observation, noise):
        self.step += 1
        share = 1.0 / (1.0 + 0.1 * self.step)
        return torch.tanh(self.net(observation)) * (1 - share) + noise * share


def make():
    """Return the policy and its compiled forward."""
    policy = Policy()
    return policy, torch.compile(policy)
