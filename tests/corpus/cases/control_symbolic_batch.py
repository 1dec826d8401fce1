"""Batches of other sizes with a marked dimension.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html
"""

import torch


def model(x):
    return x.relu().mean(0)


calls = []
for batch in (4, 6, 9):
    x = torch.randn(batch, 8)
    torch._dynamo.mark_dynamic(x, 0)
    calls.append((x,))
