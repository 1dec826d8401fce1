"""An actor-critic update as in research code: a loop over rewards, `float` of a tensor, `print`.

The graph breaks are intended: each part of the update is a separate graph.
"""

import torch


class Update(torch.nn.Module):
    """An actor-critic network that returns its clipped loss over one trajectory."""

    def __init__(self, size: int = 32, actions: int = 6) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(size, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64))
        self.policy = torch.nn.Linear(64, actions)
        self.value = torch.nn.Linear(64, 1)

    def forward(
        self, states: torch.Tensor, actions: torch.Tensor, rewards: torch.Tensor, old: torch.Tensor
    ) -> torch.Tensor:
        """Return the loss, a scalar, for `states` of [steps, size] and the other inputs of [steps]."""
        features = self.body(states).tanh()
        scores, values = self.policy(features), self.value(features).squeeze(-1)
        returns = discounted(rewards, 0.99)
        advantages = returns - values.detach()
        if float(advantages.std()) > 0:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        logs = torch.log_softmax(scores, dim=-1).gather(1, actions[:, None]).squeeze(1)
        ratio = torch.exp(logs - old)
        clipped = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        loss = -clipped.mean() + 0.5 * (returns - values).square().mean()
        print("steps", states.shape[0])
        entropy = -(torch.softmax(scores, -1) * torch.log_softmax(scores, -1)).sum(-1).mean()
        return loss - 0.01 * entropy


def discounted(rewards: torch.Tensor, gamma: float) -> torch.Tensor:
    """Return the discounted return of every step, in the shape of `rewards`."""
    total, returns = torch.zeros_like(rewards[0]), []
    for reward in rewards.flip(0).unbind(0):
        total = reward + gamma * total
        returns.append(total)
    return torch.stack(returns[::-1])


model = Update()
inputs = (torch.randn(16, 32), torch.randint(0, 6, (16,)), torch.randn(16), torch.full((16,), -1.8))
