"""Questions that read the nearest of many stored memories, in float16."""

import torch
import torch.nn.functional as F
from torch import nn

MEMORIES, WIDTH, NEAREST = 50_000, 384, 16


class Retrieval(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", F.normalize(torch.randn(MEMORIES, WIDTH), dim=-1))
        self.register_buffer("values", torch.randn(MEMORIES, WIDTH))
        self.ask = nn.Sequential(nn.Linear(WIDTH, 1_536), nn.GELU(), nn.Linear(1_536, WIDTH))
        self.join = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores, places = (F.normalize(self.ask(x), dim=-1) @ self.keys.T).topk(NEAREST, -1)
        found = (torch.softmax(scores * 8, -1)[..., None] * self.values[places]).sum(1)
        return F.layer_norm(x + self.join(torch.cat((x, found), -1)), (WIDTH,))


model = Retrieval().half().eval()
calls = [[torch.randn(1_024, WIDTH).half()]]
training = False
