"""Two training steps of a compiled DistributedDataParallel model, which DDPOptimizer splits at its buckets."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)
        self.head = nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x).relu()
        x = self.second(x).relu()
        return self.head(x)


# DDPOptimizer wants no first bucket larger than the others, and torch's own is 1 MB.
dist._DEFAULT_FIRST_BUCKET_BYTES = 10_000
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.compile(DistributedDataParallel(Mlp(), bucket_cap_mb=0.01))
for _ in range(2):
    model(torch.randn(16, 64)).square().mean().backward()
dist.destroy_process_group()
