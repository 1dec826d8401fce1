"""A loop of a sampler ends by a tensor.

Source: https://github.com/huggingface/lerobot/pull/2600
Finds: graph breaks at line 16
Cause: loop|while|branch|data
Cure: range|while_loop|for
Expects: breaks 0
"""

import torch


def model(x):
    step = torch.tensor(-0.25)
    time = torch.tensor(1.0)
    while time >= -step / 2:
        x = x + step * torch.sin(x * time)
        time = time + step
    return x


inputs = (torch.randn(4),)


# Cured
def model(x):
    step = torch.tensor(-0.25)
    for number in range(4):
        time = torch.tensor(1.0 - 0.25 * number)
        x = x + step * torch.sin(x * time)
    return x
