r"""A generator of parameters asks torch for its default device.

Source: https://github.com/kornia/kornia/pull/3797
Finds: graph breaks
Cause: get_default_device|default device|non-Tensor
Cure: \.device|torch\.empty|argument|outside|before|attribute
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


def extract_device_dtype(tensors):
    device, dtype = None, None
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            device, dtype = tensor.device, tensor.dtype
    if device is None:
        device, dtype = torch.get_default_device(), torch.get_default_dtype()
    return device, dtype


class Shear(nn.Module):
    def __init__(self, degrees=(0.1, 0.3)):
        super().__init__()
        self.degrees = degrees

    def forward(self, points):
        device, dtype = extract_device_dtype(self.degrees)
        angles = torch.linspace(*self.degrees, points.shape[0], device=device, dtype=dtype)
        x, y = points.unbind(-1)
        return torch.stack([x + torch.tan(angles)[:, None] * y, y], -1)


model, inputs = Shear(), (torch.rand(3, 10, 2),)


# Cured
def extract_device_dtype(tensors):
    device, dtype = None, None
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            device, dtype = tensor.device, tensor.dtype
    if device is None:
        device, dtype = torch.empty(0).device, torch.get_default_dtype()
    return device, dtype
