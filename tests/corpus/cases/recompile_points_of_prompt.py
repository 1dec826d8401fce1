r"""A prompt encoder is compiled without dynamic shapes, and users click different numbers of points.

Source: https://github.com/facebookresearch/sam2/issues/517
Run: --backend eager --no-dynamic
Finds: recompiles
Cause: size|dynamic=False|points
Cure: dynamic|mark_dynamic|pad
Expects: recompiles 1
"""

import torch


class Prompt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.labels = torch.nn.Embedding(2, 6)

    def forward(self, points, labels):
        angles = torch.cat([points.sin(), points.cos(), points * 0.5], dim=-1)
        return (angles + self.labels(labels)).mean(1)


model = Prompt().requires_grad_(False)
calls = [(torch.randn(1, count, 2), torch.ones(1, count, dtype=torch.long)) for count in (2, 3, 5, 4)]

# Cured
torch_compile = {"dynamic": None}
