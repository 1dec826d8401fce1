"""A size that must not be fixed

The batch is marked dynamic, but the model needs its size as a fixed number. Keep the mark, and let one graph serve all
sizes.
"""

import torch
from torch import Tensor


def model(x: Tensor) -> Tensor:
    weighted = [x[row] * (row + 1) for row in range(x.shape[0])]
    return torch.stack(weighted).sin()


calls = [(torch.randn(batch, 32),) for batch in (4, 6, 8)]
for (x,) in calls:
    torch._dynamo.mark_dynamic(x, 0)
