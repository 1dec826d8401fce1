"""Two towers whose results are compared all with all, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn


def tower(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, 1_536), nn.RMSNorm(1_536), nn.Tanh(), nn.Linear(1_536, 1_536), nn.SiLU(), nn.Linear(1_536, 320)
    )


class Towers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(40_000, 512, mode="sum")
        self.left, self.right = tower(512), tower(1_152)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, words: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        left = F.normalize(self.left(self.words.weight[words].sum(1)), dim=-1)
        right = F.normalize(self.right(image), dim=-1)
        scores = (left @ right.t()).float() * self.scale.exp()
        target = torch.arange(scores.shape[0], device=scores.device)
        return F.cross_entropy(scores, target) + F.cross_entropy(scores.t(), target)


model = Towers().to(torch.bfloat16)
calls = [[torch.randint(0, 40_000, (6_144, 16)), torch.randn(6_144, 1_152).bfloat16()]] * 4
training = True
