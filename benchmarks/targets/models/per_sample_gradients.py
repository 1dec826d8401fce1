"""Gradients of each sample, with `torch.func`: `vmap` over `grad` of a functional call."""

import torch
from torch.func import functional_call, grad, vmap


class PerSample(torch.nn.Module):
    """A small network that returns the loss of each sample times the norm of the sample's gradient."""

    def __init__(self, size: int = 48, classes: int = 10) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(size, 96), torch.nn.LayerNorm(96), torch.nn.GELU(), torch.nn.Linear(96, classes)
        )

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return losses weighted by gradient norms, for `x` of [batch, size] and `labels` of [batch]: [batch]."""
        parameters = dict(self.net.named_parameters())

        def loss(weights: dict[str, torch.Tensor], sample: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            scores = functional_call(self.net, weights, (sample[None],))
            return torch.nn.functional.cross_entropy(scores, label[None])

        gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, labels)
        squares = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients.values()])
        return squares.sum(0).sqrt() * vmap(loss, in_dims=(None, 0, 0))(parameters, x, labels)


model = PerSample()
inputs = (torch.randn(32, 48), torch.randint(0, 10, (32,)))
