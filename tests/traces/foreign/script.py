"""A script that knows nothing of Compileboard: training with two graph breaks, the second time from the caches."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(16, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.hidden(x).relu()
        print("hidden", hidden.shape)
        logits = self.head(hidden)
        if logits.sum() > 0:
            logits = logits * 2
        return logits.softmax(dim=-1)


torch.manual_seed(0)
for _ in range(2):
    model = Classifier()
    torch.compile(model)(torch.randn(8, 16)).square().mean().backward()
    torch.compiler.reset()
