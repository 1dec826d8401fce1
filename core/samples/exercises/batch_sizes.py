"""A batch that changes its size

The first call fixes the batch size, and the second recompiles for any size. Tell torch before the first call, so that
one compilation is enough.
"""

import torch
from torch import Tensor


def model(x: Tensor) -> Tensor:
    return torch.softmax(x @ x.mT, dim=-1) @ x


calls = [(torch.randn(batch, 8, 16),) for batch in (2, 4, 6, 8)]
