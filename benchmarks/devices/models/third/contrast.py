"""Images against copies with a queue of negatives, by residual convolutions, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(channels, out, 3, stride, 1), nn.Conv2d(out, out, 3, 1, 1)
        self.norms = nn.ModuleList((nn.GroupNorm(16, out), nn.GroupNorm(16, out)))
        self.short = nn.Conv2d(channels, out, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norms[1](self.second(F.relu(self.norms[0](self.first(x)))))
        return F.relu(y + self.short(x))


class Contrast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 64, 5, 2, 2), nn.ReLU(), Residual(64, 64, 1), Residual(64, 128, 2), Residual(128, 256, 2)
        )
        self.head = nn.Linear(256, 128)
        self.register_buffer("queue", F.normalize(torch.randn(16_384, 128), dim=1))

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        one, other = (F.normalize(self.head(self.body(side).mean((2, 3))), dim=1) for side in (left, right))
        scores = torch.cat(((one * other).sum(1, keepdim=True), one @ self.queue.t()), 1) / 0.1
        return F.cross_entropy(scores, torch.zeros(scores.shape[0], dtype=torch.long, device=scores.device))


model = Contrast()
calls = [[torch.randn(32, 3, 128, 128), torch.randn(32, 3, 128, 128)]]
training = True
