"""A network that makes the weights of another one for each sample, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

INSIDE, POINTS = 64, 256


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(512, 1_024), nn.SiLU(), nn.Linear(1_024, 1_024), nn.SiLU())
        self.first, self.second = nn.Linear(1_024, 16 * INSIDE), nn.Linear(1_024, INSIDE * INSIDE)
        self.third, self.shift = nn.Linear(1_024, INSIDE * 16), nn.Linear(1_024, 2 * INSIDE)

    def forward(self, about: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        about = self.body(about)
        one, two = self.shift(about).unsqueeze(1).chunk(2, -1)
        x = torch.sin(torch.baddbmm(one, points, self.first(about).view(-1, 16, INSIDE)))
        x = torch.sin(torch.baddbmm(two, x, self.second(about).view(-1, INSIDE, INSIDE)))
        return F.sigmoid(torch.bmm(x, self.third(about).view(-1, INSIDE, 16)))


model = Generator().to(torch.bfloat16).eval()
calls = [[torch.randn(1_024, 512).bfloat16(), torch.randn(1_024, POINTS, 16).bfloat16()]]
training = False
