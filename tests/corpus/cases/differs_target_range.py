"""Targets of a binary loss are out of range, which only eager code rejects.

Source: https://github.com/pytorch/pytorch/issues/193757
Run: --backend inductor
Finds: raised in eager
Cause: target|range|between 0 and 1|check|valid|reject|raises
Cure: clamp|check|assert|valid|with_logits
Expects: skipped 0
"""

import torch
from torch.nn import functional

torch.manual_seed(0)


class Matting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Conv1d(1, 2, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv1d(2, 1, 1))

    def forward(self, image, alpha):
        return functional.binary_cross_entropy(self.net(image).sigmoid(), alpha)


model = Matting()
inputs = (torch.ones(1, 1, 6), torch.full((1, 1, 6), 1.5))


# Cured
class Checked(Matting):
    def forward(self, image, alpha):
        return functional.binary_cross_entropy(self.net(image).sigmoid(), alpha.clamp(0, 1))


torch.manual_seed(0)
model = Checked()
