"""A detector has a backbone that was scripted and frozen for deployment.

Source: https://github.com/pytorch/pytorch/issues/150089
Finds: graph breaks
Cause: script|jit
Cure: eager|original|without.*script|not script|un-?script|plain|remove
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv2(torch.relu(self.conv1(x))))


class Detector(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Conv2d(16, 5, 1)

    def forward(self, images):
        features = self.backbone(images * 2 - 1)
        return self.head(features).sigmoid()


backbone = torch.jit.script(Backbone().eval())
model, inputs = Detector(backbone).eval(), (torch.rand(1, 3, 32, 32),)

# Cured
torch.manual_seed(0)
model = Detector(Backbone().eval()).eval()
