r"""F.dropout is called without training=self.training, and drops in evaluation as well.

Source: https://github.com/pytorch/pytorch/issues/141557
Finds: random numbers
Cause: dropout|random|\bseed
Cure: self\.training|nn\.Dropout|training=|fallback_random
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
"""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.dropout(x, 0.5))


model = Classifier().eval()
inputs = (torch.randn(8, 16),)


# Cured
class Trained(Classifier):
    def forward(self, x):
        return self.head(F.dropout(x, 0.5, training=self.training))


model = Trained().eval()
