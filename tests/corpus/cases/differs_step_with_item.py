r"""An optimizer step reads its step number as a Python number, and changes the parameter in place.

Source: https://github.com/pytorch/pytorch/issues/185382
Run: --backend inductor
Finds: results differ or graph breaks
Cause: item\(\)
Cure: tensor|without.*item|item\(\)
Expects: breaks 0
"""

import torch


def step(weight, gradient, first, second, number):
    number.add_(1)
    first.mul_(0.9).add_(gradient, alpha=0.1)
    second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    count = number.item()
    size = 0.001 / (1 - 0.9**count)
    scale = (second.sqrt() / (1 - 0.999**count) ** 0.5).add_(1e-8)
    weight.addcdiv_(first, scale, value=-size)


def model(start, gradient):
    weight = start.clone()
    first, second, number = torch.zeros_like(weight), torch.zeros_like(weight), torch.tensor(0.0)
    for _ in range(4):
        step(weight, gradient, first, second, number)
    return weight


inputs = (torch.randn(6), torch.randn(6))

# Cured


def tensor_step(weight, gradient, first, second, number):
    number.add_(1)
    first.mul_(0.9).add_(gradient, alpha=0.1)
    second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    size = 0.001 / (1 - 0.9**number)
    scale = (second.sqrt() / (1 - 0.999**number) ** 0.5).add_(1e-8)
    weight.sub_(size * first / scale)


def model(start, gradient):
    weight = start.clone()
    first, second, number = torch.zeros_like(weight), torch.zeros_like(weight), torch.tensor(0.0)
    for _ in range(4):
        tensor_step(weight, gradient, first, second, number)
    return weight
