"""A training with several resolutions compiles for each.

Source: https://github.com/pytorch/torchtitan/issues/1081
Finds: recompiles
Cause: (?i)size|shape|dimension|resolution
Cure: (?i)mark_dynamic|dynamic|bucket|pad|same size|fixed
Expects: breaks 0, recompiles 0
"""

import torch

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.SiLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
)
calls = [(torch.randn(2, 3, *size),) for size in ((16, 16), (24, 24), (16, 32), (32, 16))]
inputs = calls[0]
training = True

# Cured
for (image,) in calls:
    torch._dynamo.mark_dynamic(image, 2)
    torch._dynamo.mark_dynamic(image, 3)
