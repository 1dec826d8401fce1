"""Three layers that mix patches, then channels, trained in float32 with TF32 products."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_float32_matmul_precision("high")
WIDTH, PATCHES = 384, 196


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)))
        self.across = nn.Sequential(nn.Linear(PATCHES, 256), nn.GELU(), nn.Linear(256, PATCHES))
        self.within = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.across(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norms[1](x))


class Mixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.head = nn.Linear(768, WIDTH), nn.Linear(WIDTH, 100)
        self.layers = nn.Sequential(*(Layer() for _ in range(3)))

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.head(self.layers(self.patches(x)).mean(1)), target)


model = Mixer()
calls = [[torch.randn(96, PATCHES, 768), torch.randint(0, 100, (96,))]] * 4
training = True
