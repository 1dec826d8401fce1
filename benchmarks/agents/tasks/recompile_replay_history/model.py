"""An agent that keeps its last rewards in a list on the module and normalizes by them."""

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self, width: int = 5, most: int = 40) -> None:
        super().__init__()
        self.rewards = []
        self.most = most
        self.value = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, observation, reward):
        self.rewards.append(reward)
        if len(self.rewards) > self.most:
            self.rewards.pop(0)
        past = torch.stack(self.rewards)
        scaled = (reward - past.mean()) / (past.std(correction=0) + 1e-3)
        return self.value(observation).squeeze(-1) + scaled


def start(most: int = 40):
    """Return the agent and its compiled forward; a reward is a tensor of one number, without a gradient."""
    agent = Agent(most=most)
    return agent, torch.compile(agent)
