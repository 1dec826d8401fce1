"""A mixture of experts that counts how often each expert was chosen, by an operator of its own."""

import torch
from torch import nn


@torch.library.custom_op("routing::count_choices", mutates_args=())
def count_choices(counts: torch.Tensor, choices: torch.Tensor) -> torch.Tensor:
    """Add to the counts how often each expert is chosen; return how many choices there are."""
    counts.index_add_(0, choices.flatten(), torch.ones(choices.numel()))
    return torch.tensor(choices.numel())


@count_choices.register_fake
def _(counts, choices):
    return torch.empty((), dtype=torch.int64)


class Experts(nn.Module):
    def __init__(self, width: int = 8, experts: int = 4) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.weights = nn.Parameter(torch.randn(experts, width, width) / width**0.5)
        self.register_buffer("counts", torch.zeros(experts))

    def forward(self, x):
        share, choice = self.gate(x).softmax(dim=-1).max(dim=-1)
        count_choices(self.counts, choice)
        chosen = torch.einsum("bi,bij->bj", x, self.weights[choice])
        return x + share.unsqueeze(-1) * torch.relu(chosen)


def build(width: int = 8):
    """Return the model and its compiled forward."""
    model = Experts(width)
    return model, torch.compile(model)
