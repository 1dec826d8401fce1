"""Dynamic batch

torch._dynamo.mark_dynamic says before the first call that the batch size will vary: one compilation with a symbolic
size serves all batches.
"""

import torch
from torch import Tensor, nn

group = "Dynamo"

model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.LayerNorm(64)).eval()


def batch(size: int) -> Tensor:
    x = torch.randn(size, 64)
    torch._dynamo.mark_dynamic(x, 0)
    return x


calls = [(batch(size),) for size in (4, 16, 7, 64)]
