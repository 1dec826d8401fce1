"""A pipeline makes images of 32 and then of 48 pixels.

Source: https://github.com/huggingface/diffusers/issues/5495
Finds: recompiles
Cause: size|shape
Cure: mark_dynamic|dynamic=True|dynamic|pad|same (size|shape)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 3, 3, padding=1)).eval()
calls = [(torch.randn(2, 3, size, size),) for size in (32, 48, 64)]

# Cured
for call in calls:
    torch._dynamo.mark_dynamic(call[0], 2)
    torch._dynamo.mark_dynamic(call[0], 3)
