"""A critic's loss with a penalty on the gradient by its input, as in Wasserstein training."""

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


critic = Critic()


def loss(real, fake, mix, weight):
    """Return the critic's loss; `mix` in 0..1 says where between real and fake the gradient is taken."""
    between = (mix * real + (1 - mix) * fake).detach().requires_grad_(True)
    score = critic(between).sum()
    score.backward(create_graph=True, inputs=[between])
    norm = between.grad.flatten(1).norm(dim=1)
    if norm.max() > 1e3:
        norm = norm.clamp(max=1e3)
    penalty = (norm - 1).square().mean()
    return critic(fake).mean() - critic(real).mean() + weight * penalty


compiled_loss = torch.compile(loss)


def critic_loss(real, fake, mix, weight: float = 10.0):
    """Return the compiled loss."""
    return compiled_loss(real, fake, mix, weight)
