r"""A detector stacks the shapes of its feature maps as tensors.

Source: https://github.com/roboflow/rf-detr/pull/1411
Run: --script
Finds: graph breaks
Cause: _shape_as_tensor|torch\.Size|shape|Tensor as element
Cure: torch\.tensor|\.shape|int|as_tensor
Expects: skipped 0
"""

import torch


class Neck(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList(torch.nn.Conv2d(2, 2, 3, stride=stride, padding=1) for stride in (1, 2))

    def forward(self, image):
        maps = [conv(image) for conv in self.convs]
        shapes = torch.stack([torch._shape_as_tensor(each)[2:4] for each in maps]).to(torch.long)
        return torch.cat([each.flatten(2) for each in maps], -1), shapes


torch.manual_seed(0)
print(torch.compile(Neck(), backend="eager")(torch.ones(1, 2, 8, 6))[1])

# Cured
import torch


class Neck(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList(torch.nn.Conv2d(2, 2, 3, stride=stride, padding=1) for stride in (1, 2))

    def forward(self, image):
        maps = [conv(image) for conv in self.convs]
        shapes = torch.tensor([each.shape[2:4] for each in maps])
        return torch.cat([each.flatten(2) for each in maps], -1), shapes


torch.manual_seed(0)
print(torch.compile(Neck(), backend="eager")(torch.ones(1, 2, 8, 6))[1])
