"""Attention without a softmax: sums of keys and values in chunks, with gates, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, CHUNK = 768, 12, 128


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)))
        self.parts, self.out = nn.Linear(WIDTH, 4 * WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
        self.up, self.down = nn.Linear(WIDTH, 2_048, False), nn.Linear(2_048, WIDTH, False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v, gate = self.parts(self.norms[0](x)).chunk(4, -1)
        q, k, v = (
            part.view(batch, length // CHUNK, CHUNK, HEADS, -1).permute(0, 3, 1, 2, 4)
            for part in (F.elu(q) + 1, F.elu(k) + 1, v)
        )
        states = torch.cumsum(k.transpose(-1, -2) @ v, 2)
        before = F.pad(states[:, :, :-1], (0, 0, 0, 0, 1, 0))
        inside = torch.tril(q @ k.transpose(-1, -2)) @ v
        y = (q @ before + inside).permute(0, 2, 3, 1, 4).reshape(batch, length, WIDTH)
        x = x + self.out(F.rms_norm(y, (WIDTH,)) * torch.sigmoid(gate))
        return x + self.down(F.relu(self.up(self.norms[1](x))).square())


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x.float().pow(2).mean()


model = Model().to(torch.bfloat16)
calls = [[torch.randn(16, 1_024, WIDTH).bfloat16()]]
training = True
