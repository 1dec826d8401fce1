r"""An agent's policy is compiled as an attribute, and the agent's file does not fit a new agent.

Source: https://github.com/DLR-RM/stable-baselines3/issues/2137
Finds: names of a compiled module or raised in a script
Cause: _orig_mod|prefix
Cure: _orig_mod|\.compile\(|in.place|strip|removeprefix|before compil|uncompiled
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, observation):
        return self.head(torch.tanh(self.body(observation)))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = Policy()

    def forward(self, observation):
        return self.policy(observation)


agent = Agent()
agent.policy = torch.compile(agent.policy, backend="eager")
agent(torch.randn(2, 3))
saved = agent.state_dict()
loaded = Agent()
loaded.load_state_dict(saved)

# Cured
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, observation):
        return self.head(torch.tanh(self.body(observation)))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = Policy()

    def forward(self, observation):
        return self.policy(observation)


agent = Agent()
agent.policy.compile(backend="eager")
agent(torch.randn(2, 3))
saved = agent.state_dict()
loaded = Agent()
loaded.load_state_dict(saved)
