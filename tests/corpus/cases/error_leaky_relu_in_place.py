"""An activation in place follows one whose output is needed for the backward.

Source: https://github.com/pytorch/pytorch/issues/104943
Finds: needed tensor changed in place
Cause: in.?place
Cure: inplace=False|out of place|no_grad
Expects: breaks 0
Run: --backend aot_eager
"""

import torch


def model(x):
    y = torch.sigmoid(x)
    return torch.nn.functional.leaky_relu(y, inplace=True)


inputs = (torch.randn(2, 3, requires_grad=True),)


# Cured
def model(x):
    y = torch.sigmoid(x)
    return torch.nn.functional.leaky_relu(y)
