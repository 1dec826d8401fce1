"""Training step

Model and loss in one function: AOTAutograd traces the joint graph, cuts it into forward and backward, and decides which
tensors to save between the two.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Training"
training = True

FEATURES, HIDDEN, CLASSES, BATCH = 128, 256, 10, 64


class ClassifierWithLoss(nn.Module):
    """Cross entropy of a small classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES)
        self.hidden = nn.Linear(FEATURES, HIDDEN)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        logits = self.head(F.gelu(self.hidden(self.norm(x))))
        return F.cross_entropy(logits, labels)


model = ClassifierWithLoss()
inputs = (torch.randn(BATCH, FEATURES), torch.randint(CLASSES, (BATCH,)))
